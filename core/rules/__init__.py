"""How drafted tokens are drawn and verified; `core.verify` has the table."""
