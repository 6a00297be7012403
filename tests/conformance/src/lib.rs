//! What a real API server says about our schemas, and what real clients say about our API: tests only.
