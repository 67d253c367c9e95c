"""Recurrent cells and RNN layers."""
