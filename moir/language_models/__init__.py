"""The folder of a language model that OpenVINO GenAI reads: an IR, its tokenizer, its configuration."""
