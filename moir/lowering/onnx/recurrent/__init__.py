"""RNN layers over sequences: RNN, GRU, LSTM."""
