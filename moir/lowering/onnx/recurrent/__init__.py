"""Recurrent networks over sequences: RNN, GRU, LSTM."""
