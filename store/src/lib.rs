//! Every SQL statement and migration behind one trait.
