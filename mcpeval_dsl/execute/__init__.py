"""Running a plan: environments, harvests, trials, and the scheduler that orders them."""
