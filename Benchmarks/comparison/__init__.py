"""Runs Sillok, its floors and its peers in turn, keeps what they measured, and writes it down."""
