"""Report: why a trial could not be tested, in words. Records and JSON keep the codes; people read these."""

from __future__ import annotations

_WORDS = {
    "model_api:preflight": "the model could not be used (asked once, before any trial)",
    "user_model:preflight": "the model that plays the user could not be used (asked once, before any trial)",
    "user_model:empty": "the model that plays the user said nothing",
    "user_model:tools": "the model that plays the user called tools and said nothing",
    "server:start_failed": "the server could not be started or reached",
    "capability:tool_schema_refused": "the provider refused the tools' schemas",
    "script:exhausted": "the script has no step left",
    "script:unexpected": "the script does not fit what happened",
    "user_script:exhausted": "the user's script has no step left",
    "user_script:unexpected": "the user's script does not fit what happened",
    "deadline": "the wait asked for was longer than the time left",
    "setup": "the environment could not be set up",
    "setup:distract": "the distracting tools could not be made",
    "policy:simulate": "a write was only simulated, so there is no state to grade",
    "ungraded": "no grader reached a verdict",
    "ungraded:not_run": "the grader was not run",
    "ungraded:judge_api": "the judge could not be asked",
    "ungraded:judge_unreadable": "the judge's answer could not be read",
    "ungraded:judge_not_believed": "the judge is not believed, by its calibration",
    "ungraded:timeout": "the grader took too long",
    "ungraded:grader_exception": "the grader itself failed",
    "ungraded:no_evidence": "there was nothing to grade by",
}
_FAMILIES = {
    "model_api": "the model API failed",
    "user_model": "the model that plays the user failed",
    "prepare": "a version could not be prepared",
    "moot": "nothing to grade",
    "ground_truth_moved": "what is true changed during the trial",
    "script": "the script stopped the trial",
    "user_script": "the user's script stopped the trial",
    "ungraded": "no grader reached a verdict",
}


def in_words(cause: str) -> str:
    """`script:exhausted` as `the script has no step left`; of a family, `model_api:529` as `the model API failed (529)`."""
    if cause in _WORDS:
        return _WORDS[cause]
    family, colon, rest = cause.partition(":")
    return f"{_FAMILIES[family]} ({rest.strip()})" if colon and family in _FAMILIES else cause


__all__ = ["in_words"]
