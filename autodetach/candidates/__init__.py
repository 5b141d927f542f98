"""Repairs that rules propose: a file for each way of repairing, and for what several of these need.

They are candidates only: which of them is offered, the proof decides.
"""
