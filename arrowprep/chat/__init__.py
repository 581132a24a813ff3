"""Chats: messages to text and spans, to masks, to training examples."""
