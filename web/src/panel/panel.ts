// The panel: numbers at a glance, the chart, nodes and lines, from the status and from the picture.
import { button, canvas, Facts, part, write } from "../dom";
import type { LineState } from "../line";
import { fields, number, type Fields } from "../protocol/words";
import type { RegionMap } from "../world/regions";
import { Chart } from "./chart";
import { NodeList } from "./nodes";
import { bytesPerSecond, milliseconds, whole } from "./text";

/** What is known without the status, from the picture itself. */
export interface Glance {
  objects: number;
  touching: number;
  fps: number;
  dilation: number;
  bytesPerSecond: number;
  faults: number;
}

interface Traffic {
  at: number;
  nodes: number | null;
  door: number | null;
}

/** A world whose last tick is older stands still. */
const STALLED_MS = 2000;
/** A server that sends a status every second, and has not for so long, is not heard. */
const SILENT_MS = 4000;

export class Panel {
  private readonly numbers = new Facts(part("numbers"));
  private readonly lines = new Facts(part("lines"));
  private readonly chart = new Chart(canvas("chart"), part("chart-legend"));
  private readonly nodes: NodeList;
  private traffic: Traffic | null = null;
  private status: Fields = {};
  private statusAt: number | null = null;
  private lineKind: LineState["kind"] = "connecting";
  canKill = false;

  constructor(regions: RegionMap, kill: (node: number) => void) {
    this.nodes = new NodeList(part("nodes"), regions, kill);
    const toggle = button("panel-toggle");
    const show = (open: boolean) => {
      document.body.classList.toggle("collapsed", !open);
      toggle.setAttribute("aria-expanded", String(open));
    };
    toggle.addEventListener("click", () => show(document.body.classList.contains("collapsed")));
    // On a tablet held upright the world comes first.
    show(window.innerWidth >= 900);
  }

  clear(name: string): void {
    write(part("world-name"), name);
    this.traffic = null;
    this.status = {};
    this.statusAt = null;
    this.nodes.clear();
    this.chart.clear();
  }

  line(state: LineState): void {
    this.lineKind = state.kind;
    this.statusAt = null;
    this.drawLine(performance.now());
  }

  /** "live" only while there are ticks, and somebody tells of them. */
  private drawLine(now: number): void {
    const badge = part("line");
    const words = {
      connecting: "connecting",
      open: "live",
      waiting: "line lost",
      stopped: "not connected",
    };
    const since = this.statusAt === null ? 0 : now - this.statusAt;
    const age = number(this.status.tick_age_ms) ?? 0;
    const stalled = this.lineKind === "open" && (since > SILENT_MS || age > STALLED_MS);
    badge.dataset.state = stalled ? "waiting" : this.lineKind;
    write(badge, stalled ? `stalled ${Math.round((age + since) / 1000)} s` : words[this.lineKind]);
  }

  takeStatus(status: Fields, now: number): void {
    this.status = status;
    this.statusAt = now;
    this.nodes.take(status);
    const stages = new Map<string, number>();
    for (const [name, value] of Object.entries(fields(status.stages))) {
      const time = number(value);
      if (time !== null) stages.set(name, Math.max(time, 0));
    }
    // A world without news of its nodes has a gap in the chart, and no last value for ever.
    this.chart.push(stages);
    this.takeTraffic(status, now);
    const tick = fields(status.tick_ms);
    const input = fields(status.input_ms);
    const both = (times: Fields) =>
      number(times.p50) === null
        ? "–"
        : `${milliseconds(number(times.p50))} · ${milliseconds(number(times.p99))}`;
    this.lines.set("Tick p50 · p99", both(tick));
    this.lines.set("Wish to world p50 · p99", both(input));
    const clients = number(status.clients);
    if (clients !== null) this.lines.set("Clients", whole(clients));
  }

  draw(glance: Glance): void {
    const { status } = this;
    this.drawLine(performance.now());
    const stages = Object.values(fields(status.stages)).map(number);
    const step = stages.reduce<number>((sum, time) => sum + (time ?? 0), 0);
    const pairs = number(status.pairs_tested);
    const rate = number(status.ticks_per_second);
    this.numbers.set("Objects", whole(glance.objects));
    this.numbers.set("Collisions", whole(glance.touching));
    this.numbers.set("Pairs tested", pairs === null ? "–" : whole(pairs));
    this.numbers.set("Step", stages.length > 0 ? milliseconds(step) : "–");
    this.numbers.set("Ticks/s", rate === null ? "–" : rate.toFixed(1));
    this.numbers.set("Frames/s", glance.fps.toFixed(0));
    write(part("chart-sum"), glance.dilation > 1.05 ? `dilated ×${glance.dilation.toFixed(2)}` : "");
    this.lines.set("This page", bytesPerSecond(glance.bytesPerSecond));
    if (glance.faults > 0) this.lines.set("Ignored messages", whole(glance.faults));
    this.nodes.draw(this.canKill);
  }

  private takeTraffic(status: Fields, now: number): void {
    const bytes = (value: unknown) => {
      const sent = number(fields(value).sent_bytes);
      const received = number(fields(value).received_bytes);
      return sent === null || received === null ? null : sent + received;
    };
    const next: Traffic = { at: now, nodes: bytes(status.nodes), door: bytes(status.door) };
    const before = this.traffic;
    this.traffic = next;
    if (before === null || now <= before.at) return;
    const rate = (new_: number | null, old: number | null) =>
      new_ === null || old === null
        ? null
        : Math.max(0, ((new_ - old) * 1000) / (now - before.at));
    this.lines.set("Between nodes", bytesPerSecond(rate(next.nodes, before.nodes)));
    this.lines.set("At the door", bytesPerSecond(rate(next.door, before.door)));
  }
}
