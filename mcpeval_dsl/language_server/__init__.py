"""The room of the editor: specs as they are typed -> diagnostics, completion, hover and the rest of the protocol."""
