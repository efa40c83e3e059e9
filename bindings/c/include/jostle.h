/*
 * Jostle: which of many moving objects collide?
 *
 * The interface of V-COLLIDE (Hudson, Lin, Cohen, Gottschalk, Manocha, VRML 1997): the thirteen
 * calls of table 1, the eight extensions of table 2, and what C needs around them.
 *
 *     create an object, add its triangles, finish it;
 *     update transforms, test, report; and again.
 *
 * Calls return a status. If it is an error, nothing was done and nothing was written, and
 * col_error_text says why.
 *
 * Pointers must be null or valid. Null is answered with a status. A world must come from col_open
 * and not be closed yet; this cannot be checked. A world may be used by any thread, but only by one
 * at a time. Running out of memory ends the process.
 *
 * The same calls give the same results, in the same order, on every run.
 */

#ifndef JOSTLE_H
#define JOSTLE_H

/* Made by `cargo xtask header` from bindings/c/src. Change it there. */

#include <stddef.h>
#include <stdint.h>

// What became of a call. Every value but COL_OK, COL_TRUNCATED and COL_PANIC means that nothing
// was done; col_error_text says more.
typedef enum {
  // Done.
  COL_OK = 0,
  // The world is a null pointer.
  COL_BAD_HANDLE = 1,
  // Another pointer is null that must not be.
  COL_NULL_POINTER = 2,
  // No object or switch of this world has this id (any more).
  COL_UNKNOWN_OBJECT = 3,
  // The id of a switch was given where only an object will do.
  COL_NOT_AN_OBJECT = 4,
  // The id of an object was given where only a switch will do.
  COL_NOT_A_SWITCH = 5,
  // The same id was given twice where two different ones are needed.
  COL_SAME_OBJECT = 6,
  // A number is NaN or infinite.
  COL_NOT_FINITE = 7,
  // A number is too large or too small.
  COL_OUT_OF_RANGE = 8,
  // The transform is not a rotation and a translation.
  COL_NOT_RIGID = 9,
  // An object that takes part has triangles that col_finish_object has not seen yet.
  COL_UNFINISHED = 10,
  // col_set_tolerance was not called before a sphere, cylinder or cone was added.
  COL_NO_TOLERANCE = 11,
  // More triangles or objects than can be numbered.
  COL_TOO_MANY = 12,
  // A switch cannot be below itself.
  COL_CIRCLE = 13,
  // The two objects are not a collision of the last col_test.
  COL_NOT_REPORTED = 14,
  // There are more results than room for them. As many as fit were written.
  COL_TRUNCATED = 15,
  // The library failed inside, by a mistake of ours. This world takes no further calls except
  // col_error_text and col_close.
  COL_PANIC = 16,
  // The two objects pass through each other and are not both closed, or lie in one plane so that
  // nothing shows their sides: it is not defined at which points they touch.
  COL_NO_CONTACTS = 17,
  // One of the two objects is not closed, so that it has no inside: depths are not defined.
  COL_NO_INSIDE = 18,
} col_status;

// A world of objects. Only col_open makes one and only col_close ends it.
typedef struct col_world col_world;

// The name of an object or a switch. 0 is never one. The name of something deleted is not given
// again.
typedef uint64_t col_id;

// Two objects that collide. id1 is less than id2 in reports.
typedef struct {
  // The first object.
  col_id id1;
  // The second object.
  col_id id2;
} col_collision;

// Two faces that touch, by the numbers that the caller gave when adding them.
typedef struct {
  // A face of id1.
  uint32_t face1;
  // A face of id2.
  uint32_t face2;
} col_face_pair;

// A cylinder or a cone, in the coordinates of its object.
typedef struct {
  // The middle between bottom and top.
  double centre[3];
  // From the middle of the bottom to the middle of the top, or to the tip. Its length is the
  // height.
  double axis[3];
  // The radius of the bottom.
  double radius;
  // The caller's number for the whole surface, for col_report_faces.
  uint32_t face;
} col_round;

// Where two objects are in each other's way.
typedef struct {
  // A face of the first object, by the number that the caller gave.
  uint32_t face1;
  // A face of the second object.
  uint32_t face2;
  // From the second object towards the first, of length 1.
  double normal[3];
  // A point of the first object.
  double point1[3];
  // A point of the second object.
  double point2[3];
  // How far apart they are here, along the normal: 0 where they touch, exactly; below 0 where
  // they overlap, and then the depth.
  double gap;
} col_contact;

// How far the second of two objects must move so that the insides do not overlap.
typedef struct {
  // No shorter move in any direction is enough. 0 if they do not overlap.
  double at_least;
  // The length of way. For convex objects the same as at_least but for rounding.
  double at_most;
  // A move of the second object that is enough.
  double way[3];
} col_separation;

// How far the second of two objects must move along a direction.
typedef struct {
  // The least distance after which the insides do not overlap. 0 if they do not now.
  double first;
  // The least distance beyond which they never overlap again. 0 if they never do.
  double last;
} col_clearing;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes a world without objects. Several worlds can be open; they know nothing of each other.
col_status col_open(col_world **world);

// Ends a world and frees all its memory. The pointer must not be used afterwards; that it is
// cannot be noticed.
col_status col_close(col_world *world);

// Adds an object: active, without triangles, at the origin. An object without triangles collides
// with nothing.
col_status col_create_object(col_world *world, col_id *object);

// Adds a triangle to an object: x, y, z of three corners, in the coordinates of the object,
// rounded to float, each at most 1e30 in size. face is the caller's own number for
// col_report_faces; several triangles may have the same. A triangle without area is the segment or
// point that it is.
//
// The object is then unfinished until col_finish_object.
col_status col_add_triangle(col_world *world,
                            col_id object,
                            const double corners[9],
                            uint32_t face);

// Builds the hierarchy of an object from all triangles since its creation or the last
// col_clear_object. To be called again after further triangles.
col_status col_finish_object(col_world *world, col_id object);

// Removes all triangles of an object, finished or not. Transform, activation and pairs stay.
col_status col_clear_object(col_world *world, col_id object);

// Deletes an object or a switch, with its pairs. The children of a switch stay, without a parent.
// The last report stays too, and may name what is deleted.
col_status col_delete_object(col_world *world, col_id object);

// Lets an object, or what a switch chooses, take part in tests again.
col_status col_activate(col_world *world, col_id object);

// Takes an object, or everything below a switch, out of all tests. It can still be changed.
col_status col_deactivate(col_world *world, col_id object);

// Takes col_deactivate_pair back. All pairs are active at first.
col_status col_activate_pair(col_world *world, col_id id1, col_id id2);

// Never tests two objects with each other. A switch stands for everything below it, now and later:
// a pair is tested if neither it nor any pair above it was deactivated.
col_status col_deactivate_pair(col_world *world, col_id id1, col_id id2);

// Puts an object somewhere else. The 4 x 4 matrix comes row by row and is multiplied by columns
// (x, y, z, 1): the translation stands in transform[3], [7] and [11], the last row is 0 0 0 1. The
// upper left 3 x 3 must be a rotation within 1e-3; small errors are taken out.
col_status col_update_transform(col_world *world, col_id object, const double transform[16]);

// Finds all collisions of objects that take part. Objects are surfaces: they collide if their
// triangles share a point, which is decided exactly. Only what changed is looked at again.
//
// COL_UNFINISHED if an object that takes part is unfinished; the last report then stays. To change
// an object over several tests, deactivate it meanwhile.
col_status col_test(col_world *world);

// Reports the collisions of the last col_test, sorted by id1, then id2: the number of collisions
// to total, and up to room of them to collisions. COL_TRUNCATED if there are more.
//
// With room 0 it only counts; collisions may then be null.
col_status col_report_collision(col_world *world,
                                col_collision *collisions,
                                size_t room,
                                size_t *total);

// Reports the faces of the two objects of a collision that touched in the last col_test, sorted by
// face1, then face2, each pair once; face1 belongs to collision->id1, whichever comes first. They
// are only computed here. Room as for col_report_collision.
//
// COL_NOT_REPORTED if the last col_test did not report the two.
col_status col_report_faces(col_world *world,
                            const col_collision *collision,
                            col_face_pair *faces,
                            size_t room,
                            size_t *total);

// Says in words why the last call failed that did; empty if none did. The text is valid until the
// next call with this world.
const char *col_error_text(const col_world *world);

// The version of the library, like "0.1.0".
const char *col_version(void);

// Estimates the distance of two objects where they are now, from a few box tests: they are not
// closer than that. 0 if they touch or nearly do, infinite if one has no triangles. Whether the
// two are active does not matter; they must be finished.
col_status col_est_distance(col_world *world, col_id id1, col_id id2, double *distance);

// Sets how far the triangles of spheres, cylinders and cones that are added from now on may be
// from the true surface, anywhere. There is no default.
col_status col_set_tolerance(col_world *world, double tolerance);

// Adds the triangles of a sphere to an object, all with the caller's number face. As with
// col_add_triangle, the object is then unfinished, and may have other parts.
col_status col_add_sphere(col_world *world,
                          col_id object,
                          const double centre[3],
                          double radius,
                          uint32_t face);

// Adds the triangles of a cylinder with flat ends to an object.
col_status col_add_cylinder(col_world *world, col_id object, const col_round *cylinder);

// Adds the triangles of a cone with a flat bottom to an object.
col_status col_add_cone(col_world *world, col_id object, const col_round *cone);

// Adds a switch or level of detail: active, without children, nothing chosen. Of everything below
// a switch only what is below the chosen child takes part.
col_status col_create_switch(col_world *world, col_id *switch_id);

// Makes an object or a switch the last child of a switch, or of none if switch_id is 0. It leaves
// the switch it was a child of; if it was chosen there, nothing is chosen then. A child of the
// same switch stays where it is.
col_status col_parent_object(col_world *world, col_id child, col_id switch_id);

// Lets one child of a switch take part, by its index from 0 in the order in which the children
// came, or none with -1. Children keep what col_activate and col_deactivate said of them, and the
// choice keeps its child when others leave.
col_status col_choose_child(col_world *world, col_id switch_id, int32_t child_index);

// Reports where two objects touch or are closer than reach, where they are now: few contacts that
// keep the nearest and the extremes, the nearest or deepest first. Room as for
// col_report_collision. Whether the two are active does not matter; they must be finished.
//
// Objects that overlap have depths if both are closed, which means that each of their edges has an
// even number of triangles. COL_NO_CONTACTS if one that is not closed passes through the other, or
// if two faces lie in one plane and nothing shows on which side the objects are.
col_status col_report_contacts(col_world *world,
                               const col_collision *collision,
                               double reach,
                               col_contact *contacts,
                               size_t room,
                               size_t *total);

// Do the insides of two objects share a point, where they are now? Writes 1 or 0. Objects that
// only touch, be it along whole faces, do not overlap. Exact. What has no triangles overlaps
// nothing.
// Whether the two are active does not matter; they must be finished.
//
// COL_NO_INSIDE if one of them is not closed; closed means that each edge has an even number of
// triangles. The same holds for the two calls below.
col_status col_report_overlap(col_world *world, const col_collision *collision, int32_t *overlaps);

// Reports how deep two objects are in each other, where they are now: the shortest move of the
// second one after which they do not overlap. For objects that are not convex it lies between
// two proved bounds. Both are 0 if they do not overlap.
col_status col_report_separation(col_world *world,
                                 const col_collision *collision,
                                 col_separation *separation);

// Reports how far the second of two objects must move along a direction, of any length but 0, so
// that they do not overlap.
col_status col_report_clearing(col_world *world,
                               const col_collision *collision,
                               const double direction[3],
                               col_clearing *clearing);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* JOSTLE_H */
