//! Relations and depths of solids made of cells, counted. Longer runs: the examples `polycubes` and
//! `polycube_depths`.

use jostle_geom::Effort;
use jostle_oracle::polycubes::{Family, depth, run};

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

#[test]
fn polycubes_are_as_deep_in_each_other_as_their_cells_are() {
    let summary = depth::run(300, 21, Effort::HIGH);
    println!("{summary}");
    assert!(summary.wrong.is_empty(), "{summary}");
    let [pairs, narrow, exact] = summary.overlapping();
    assert!(pairs > 100 && narrow * 10 >= pairs * 9 && exact * 10 >= pairs * 9, "{summary}");
    for squared in 0..4 {
        assert!(summary.depths.keys().any(|(_, s)| *s == squared), "{squared}: {summary}");
    }
    assert!(summary.gaps > 0, "{summary}");
}
