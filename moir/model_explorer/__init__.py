"""moir as an extension of Model Explorer (https://github.com/google-ai-edge/model-explorer)."""
