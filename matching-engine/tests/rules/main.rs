//! Each rule of pairing, in the words of the people who press the button.

mod leaving;
mod pairing;
mod reserving;
mod room;
mod settling;
mod shapes;
mod widening;
