// A recording for the mock: a small hall computed once, then shown tick by tick.
import { RATE, World } from "./world.mjs";

const TICKS = 600;

export class Recorded {
  first = 0;
  last = TICKS;
  collisions = [];
  playing = false;
  factor = 1;
  at = 0;
  #states = [];

  constructor(bodies) {
    const world = new World(bodies);
    for (let tick = 0; tick <= TICKS; tick++) {
      if (tick > 0) world.step();
      if (world.begins > 0) this.collisions.push(tick);
      const objects = [...world.objects.values()].map((one) => ({
        ...one,
        position: [...one.position],
        velocity: [...one.velocity],
        rotation: [...one.rotation],
      }));
      const byId = new Map(objects.map((one) => [one.id, one]));
      const touching = world.touching.map((pair) => pair.map(({ id }) => byId.get(id)));
      this.#states.push({ objects, touching });
    }
    this.world = world;
  }

  get tick() {
    return Math.floor(this.at);
  }

  get state() {
    return this.#states[this.tick];
  }

  /** Advances time; returns true if another tick is shown. */
  advance() {
    if (!this.playing) return false;
    const before = this.tick;
    this.#go(this.at + this.factor);
    if (this.at === this.last) this.playing = false;
    return this.tick !== before || !this.playing;
  }

  order({ do: what, tick, by, factor }) {
    if (what === "play") this.playing = true;
    else if (what === "pause") this.playing = false;
    else if (what === "speed") this.factor = factor;
    else if (what === "seek") this.#go(tick);
    else if (what === "step") this.#stand(this.tick + by);
    else if (what === "collision") this.#stand(this.#hit(by));
    else return "a recording does not know this";
    return null;
  }

  #go(tick) {
    this.at = Math.min(this.last, Math.max(this.first, tick));
  }

  #stand(tick) {
    this.playing = false;
    this.#go(tick);
  }

  #hit(by) {
    const next = this.collisions.find((tick) => tick > this.tick);
    const before = this.collisions.findLast((tick) => tick < this.tick);
    return (by > 0 ? next : before) ?? this.tick;
  }
}

export { RATE };
