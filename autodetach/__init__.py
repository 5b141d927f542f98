"""autodetach: find, explain and repair autograd graphs that live longer or shorter than their author thinks."""

__version__ = "0.1.0"
