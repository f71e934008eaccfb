//! The trace that is kept in the repository.

use replay::generate::{DEFAULT_REGIONS, Recipe, generate};

/// `replay generate --users 1000 --seconds 10 --seed 1 --out traces/sample-1k.ndjson`
const SAMPLE: &[u8] = include_bytes!("../traces/sample-1k.ndjson");

#[test]
fn generating_the_sample_again_gives_the_same_bytes() {
    let regions = DEFAULT_REGIONS.split(',').map(|text| text.parse().unwrap()).collect();
    let recipe = Recipe { users: 1_000, duration_ms: 10_000, regions, districts: 0, seed: 1 };
    let mut bytes = Vec::new();
    generate(&recipe).unwrap().write(&mut bytes).unwrap();
    assert!(bytes == SAMPLE, "generation has changed: old figures no longer compare");
}
