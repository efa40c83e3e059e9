/*
 * A scene through the C library: meshes, round solids and a switch move about; pairs, objects and
 * children come and go. Prints one line for each collision. tests/calls/twin.rs does the same
 * through the Rust API and compares the text, so the two must be changed together.
 */
#include <jostle.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 13, STEPS = 45, GRID = 8, ROCK = 40, ROOM = 200 };
enum { GROUND = 0, BALL = 7, POST = 8, NEAR = 9, MIDDLE = 10, FAR_ONE = 11, FAR_TWO = 12 };

static col_world *world;
static col_id objects[OBJECTS];

static void check(col_status status, int line) {
    if (status != COL_OK) {
        printf("scene.c:%d: status %d: %s\n", line, (int)status, col_error_text(world));
        exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

/* Numbers that both programs draw in the same order. */
static uint32_t state = 2026;
static uint32_t draw(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}
/* From -1 to 1, in steps that need few digits. */
static double draw_unit(void) { return draw(2049) / 1024.0 - 1.0; }

static void add_ground(col_id object) {
    double height[GRID + 1][GRID + 1];
    for (int i = 0; i <= GRID; i++)
        for (int j = 0; j <= GRID; j++) height[i][j] = 0.5 * draw_unit();
    for (int i = 0; i < GRID; i++) {
        for (int j = 0; j < GRID; j++) {
            const double x = i - GRID / 2.0, y = j - GRID / 2.0;
            const double low[9] = {x, y, height[i][j], x + 1, y, height[i + 1][j],
                                   x + 1, y + 1, height[i + 1][j + 1]};
            const double high[9] = {x, y, height[i][j], x + 1, y + 1, height[i + 1][j + 1],
                                    x, y + 1, height[i][j + 1]};
            CHECK(col_add_triangle(world, object, low, (uint32_t)(GRID * i + j)));
            CHECK(col_add_triangle(world, object, high, (uint32_t)(GRID * i + j)));
        }
    }
}

static void add_rock(col_id object) {
    for (uint32_t face = 0; face < ROCK; face++) {
        double corners[9];
        for (int i = 0; i < 9; i++) corners[i] = draw_unit();
        CHECK(col_add_triangle(world, object, corners, 100 + face));
    }
}

static void build(void) {
    for (int i = 0; i < OBJECTS; i++) CHECK(col_create_object(world, &objects[i]));
    CHECK(col_set_tolerance(world, 0.01));
    for (int i = 0; i < OBJECTS; i++) {
        if (i == GROUND) {
            add_ground(objects[i]);
        } else if (i == BALL) {
            const double centre[3] = {0.25, 0.0, -0.5};
            CHECK(col_add_sphere(world, objects[i], centre, 0.75, 1));
        } else if (i == POST) {
            const col_round shaft = {{0, 0, 0}, {0, 0, 2}, 0.5, 2};
            const col_round hat = {{0, 0, 1.5}, {0, 0, 1}, 1.0, 3};
            CHECK(col_add_cylinder(world, objects[i], &shaft));
            CHECK(col_add_cone(world, objects[i], &hat));
        } else {
            add_rock(objects[i]);
        }
        CHECK(col_finish_object(world, objects[i]));
    }
}

/* A turn by whole numbers, so that no library function rounds it. */
static void move(col_id object) {
    const double x = draw(9) - 4.0, y = draw(9) - 4.0, z = draw(9) - 4.0, w = draw(4) + 1.0;
    const double n = x * x + y * y + z * z + w * w;
    const double px = 4 * draw_unit(), py = 4 * draw_unit(), pz = 2 * draw_unit();
    const double transform[16] = {
        (x * x - y * y - z * z + w * w) / n, 2 * (x * y - z * w) / n, 2 * (x * z + y * w) / n, px,
        2 * (x * y + z * w) / n, (y * y - x * x - z * z + w * w) / n, 2 * (y * z - x * w) / n, py,
        2 * (x * z - y * w) / n, 2 * (y * z + x * w) / n, (z * z - x * x - y * y + w * w) / n, pz,
        0, 0, 0, 1};
    CHECK(col_update_transform(world, object, transform));
}

static int label(col_id object) {
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i] == object) return i;
    return -1;
}

static void report(int step) {
    col_collision found[ROOM];
    size_t count, faces_count;
    CHECK(col_report_collision(world, found, ROOM, &count));
    for (size_t i = 0; i < count; i++) {
        if (label(found[i].id1) > label(found[i].id2)) {
            const col_id first = found[i].id2;
            found[i].id2 = found[i].id1;
            found[i].id1 = first;
        }
        CHECK(col_report_faces(world, &found[i], NULL, 0, &faces_count));
        col_face_pair *faces = malloc(faces_count * sizeof *faces);
        CHECK(col_report_faces(world, &found[i], faces, faces_count, &faces_count));
        uint32_t sum = 0;
        for (size_t j = 0; j < faces_count; j++)
            sum = sum * 31 + faces[j].face1 * 1000 + faces[j].face2;
        printf("step %d: %d-%d with %zu pairs of faces, %u\n", step, label(found[i].id1),
               label(found[i].id2), faces_count, (unsigned)sum);
        free(faces);
    }
}

/* What changes besides places, by the number of the step. */
static void change(int step, col_id outer, col_id inner) {
    if (step % 10 == 3) CHECK(col_deactivate_pair(world, objects[1], objects[2]));
    if (step % 10 == 7) CHECK(col_activate_pair(world, objects[1], objects[2]));
    if (step % 12 == 5) CHECK(col_deactivate(world, objects[3]));
    if (step % 12 == 9) CHECK(col_activate(world, objects[3]));
    CHECK(col_choose_child(world, outer, step % 4 - 1));
    CHECK(col_choose_child(world, inner, step % 3 - 1));
    if (step == 15) CHECK(col_deactivate_pair(world, outer, objects[GROUND]));
    if (step == 40) CHECK(col_activate_pair(world, outer, objects[GROUND]));
    if (step == 20) {
        CHECK(col_clear_object(world, objects[4]));
        add_rock(objects[4]);
        CHECK(col_finish_object(world, objects[4]));
    }
    if (step == 25) CHECK(col_delete_object(world, objects[5]));
    if (step == 30) {
        CHECK(col_create_object(world, &objects[5]));
        add_rock(objects[5]);
        CHECK(col_finish_object(world, objects[5]));
    }
}

int main(void) {
    col_id outer, inner;
    CHECK(col_open(&world));
    build();
    CHECK(col_create_switch(world, &outer));
    CHECK(col_create_switch(world, &inner));
    CHECK(col_parent_object(world, objects[NEAR], outer));
    CHECK(col_parent_object(world, objects[MIDDLE], outer));
    CHECK(col_parent_object(world, inner, outer));
    CHECK(col_parent_object(world, objects[FAR_ONE], inner));
    CHECK(col_parent_object(world, objects[FAR_TWO], inner));
    for (int step = 0; step < STEPS; step++) {
        change(step, outer, inner);
        for (int i = 1; i < OBJECTS; i++)
            if (!(i == 5 && step >= 25 && step < 30) && draw(3) > 0) move(objects[i]);
        CHECK(col_test(world));
        report(step);
    }
    CHECK(col_close(world));
    return 0;
}
