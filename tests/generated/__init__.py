"""Programs that nobody wrote, on PyTorch and through the tool: what disagrees is a fault of one of them."""
