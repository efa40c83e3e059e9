// A door to FCL in plain C: build a model, ask one question about two models in one relative pose;
// move boxes, count those that overlap.
// Nothing is measured here; the caller holds the clock, the same for all engines.
// Nothing may throw across this border, hence `noexcept`: an exception ends the program.
#include <fcl/fcl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using S = double;

struct Soup {
  std::vector<fcl::Vector3<S>> vertices;
  std::vector<fcl::Triangle> triangles;
};

template <class BV>
void *build(const Soup &soup) {
  auto model = new fcl::BVHModel<BV>();
  model->beginModel();
  model->addSubModel(soup.vertices, soup.triangles);
  if (model->endModel() != fcl::BVH_OK) {
    delete model;
    return nullptr;
  }
  return static_cast<fcl::CollisionGeometry<S> *>(model);
}

const fcl::CollisionGeometry<S> *geometry(const void *model) {
  return static_cast<const fcl::CollisionGeometry<S> *>(model);
}

// Nine numbers of the rotation, row by row, then the translation.
fcl::Transform3<S> transform(const double *x) {
  fcl::Transform3<S> t = fcl::Transform3<S>::Identity();
  t.linear() << x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8];
  t.translation() << x[9], x[10], x[11];
  return t;
}

size_t collide(const void *a, const void *b, const double *pose, size_t most) {
  fcl::CollisionRequest<S> request(most, false);
  fcl::CollisionResult<S> result;
  return fcl::collide(geometry(a), fcl::Transform3<S>::Identity(), geometry(b), transform(pose),
                      request, result);
}

// Boxes of side 1 in one of FCL's broad phases.
struct Boxes {
  std::unique_ptr<fcl::BroadPhaseCollisionManager<S>> manager;
  std::vector<std::unique_ptr<fcl::CollisionObject<S>>> objects;

  void place(const double *xyz) {
    for (size_t i = 0; i < objects.size(); i++) {
      objects[i]->setTranslation(fcl::Vector3<S>(xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]));
      objects[i]->computeAABB();
    }
  }
};

bool count(fcl::CollisionObject<S> *, fcl::CollisionObject<S> *, void *pairs) {
  ++*static_cast<size_t *>(pairs);
  return false;
}

}  // namespace

extern "C" {

const char *bench_fcl_version() noexcept { return FCL_VERSION; }

void *bench_fcl_soup(const float *xyz, size_t vertices, const uint32_t *corners,
                     size_t triangles) noexcept {
  auto soup = new Soup();
  for (size_t i = 0; i < vertices; i++)
    soup->vertices.emplace_back(xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]);
  for (size_t i = 0; i < triangles; i++)
    soup->triangles.emplace_back(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]);
  return soup;
}

void bench_fcl_free_soup(void *soup) noexcept { delete static_cast<Soup *>(soup); }

// An OBB tree is FCL's best for collision; distance needs the rectangle swept spheres of OBBRSS.
void *bench_fcl_build(const void *soup, bool for_distance) noexcept {
  const Soup &s = *static_cast<const Soup *>(soup);
  return for_distance ? build<fcl::OBBRSS<S>>(s) : build<fcl::OBB<S>>(s);
}

void bench_fcl_free_model(void *model) noexcept {
  delete static_cast<fcl::CollisionGeometry<S> *>(model);
}

bool bench_fcl_touch(const void *a, const void *b, const double *pose) noexcept {
  return collide(a, b, pose, 1) > 0;
}

// FCL collects every pair in its result, which is dropped here: only the number goes back.
size_t bench_fcl_pairs(const void *a, const void *b, const double *pose) noexcept {
  return collide(a, b, pose, 100000000);
}

double bench_fcl_distance(const void *a, const void *b, const double *pose) noexcept {
  fcl::DistanceRequest<S> request;
  fcl::DistanceResult<S> result;
  double d = fcl::distance(geometry(a), fcl::Transform3<S>::Identity(), geometry(b),
                           transform(pose), request, result);
  return std::max(0.0, d);
}

void *bench_fcl_boxes(bool sweep, const double *xyz, size_t number) noexcept {
  auto boxes = new Boxes();
  if (sweep)
    boxes->manager.reset(new fcl::SaPCollisionManager<S>());
  else
    boxes->manager.reset(new fcl::DynamicAABBTreeCollisionManager<S>());
  auto shape = std::make_shared<fcl::Box<S>>(1, 1, 1);
  std::vector<fcl::CollisionObject<S> *> all;
  for (size_t i = 0; i < number; i++) {
    boxes->objects.emplace_back(new fcl::CollisionObject<S>(shape));
    all.push_back(boxes->objects.back().get());
  }
  boxes->place(xyz);
  boxes->manager->registerObjects(all);
  boxes->manager->setup();
  return boxes;
}

// Every box is at a new place; returns how many pairs overlap.
size_t bench_fcl_boxes_step(void *boxes, const double *xyz) noexcept {
  Boxes &b = *static_cast<Boxes *>(boxes);
  b.place(xyz);
  b.manager->update();
  size_t pairs = 0;
  b.manager->collide(&pairs, count);
  return pairs;
}

void bench_fcl_free_boxes(void *boxes) noexcept { delete static_cast<Boxes *>(boxes); }
}
