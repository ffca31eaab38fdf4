"""Decoder stack, rollback KV cache and the linear layers they run on."""
