//! Relations of solids made of cells, counted. A longer run: the example `polycubes`.

use jostle_oracle::polycubes::{Family, run};

#[test]
fn polycubes_lie_to_each_other_as_their_cells_do() {
    let summary = run(2000, 18);
    println!("{summary}");
    assert!(summary.wrong.is_empty(), "{summary}");
    let solid = ["apart", "touching", "crossing", "a-inside-b", "b-inside-a", "identical"];
    for family in Family::ALL {
        // A solid is never inside a surface.
        let possible = solid.iter().filter(|r| family != Family::Surface || **r != "a-inside-b");
        for relation in possible {
            assert!(summary.seen.contains_key(&(family, *relation)), "{family:?} {relation}");
        }
    }
}
