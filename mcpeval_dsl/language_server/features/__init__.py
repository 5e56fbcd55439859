"""One module for each method of the protocol: functions over a `Snapshot`, without the protocol's types."""
