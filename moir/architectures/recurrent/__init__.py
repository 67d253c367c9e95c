"""Records of families with recurrent states: state spaces, delta rules, short convolutions, also beside attentions."""
