// The nodes: colour, load as a bar, objects, delay, and a button that kills one in a demo.
import { nodeColour } from "../colours";
import { make, write } from "../dom";
import { fields, list, number, type Fields } from "../protocol/messages";
import type { RegionMap } from "../world/regions";
import { milliseconds, whole } from "./text";

interface Member {
  node: number;
  group: number;
  leader: boolean;
  objects: number;
  /** Delay to each other node, in milliseconds. */
  delays: [string, number][];
  silent: number;
}

/** A node without a message for this time is shown as silent. */
const SILENT_MS = 500;

interface Row {
  root: HTMLElement;
  swatch: HTMLElement;
  name: HTMLElement;
  bar: HTMLElement;
  objects: HTMLElement;
  delay: HTMLElement;
}

function mean(delays: [string, number][]): number | null {
  if (delays.length === 0) return null;
  return delays.reduce((sum, [, delay]) => sum + delay, 0) / delays.length;
}

function delayWords(delays: [string, number][]): string {
  if (delays.length === 0) return "No delay measured yet";
  const each = delays.map(([node, delay]) => `node ${node} in ${milliseconds(delay)}`);
  return `Mean delay to other nodes; ${each.join(", ")}`;
}

export class NodeList {
  private readonly rows = new Map<number, Row>();
  private status: Fields = {};

  constructor(
    private readonly root: HTMLElement,
    private readonly regions: RegionMap,
    private readonly kill: (node: number) => void,
  ) {}

  clear(): void {
    this.status = {};
    this.rows.clear();
    this.root.replaceChildren();
  }

  /** Takes over the groups from a status. */
  take(status: Fields): void {
    this.status = status;
  }

  draw(canKill: boolean): void {
    const members = this.members();
    const groups = new Set(members.map((member) => member.group)).size;
    const most = Math.max(1, ...members.map((member) => member.objects));
    const sum = members.reduce((all, member) => all + member.objects, 0);
    for (const [node, row] of this.rows) {
      if (members.some((member) => member.node === node)) continue;
      row.root.remove();
      this.rows.delete(node);
    }
    const living = members.map((member) => member.node);
    for (const member of members) {
      const row = this.rows.get(member.node) ?? this.addRow(member.node);
      const colour = nodeColour(member.node, living);
      row.swatch.style.background = colour;
      row.bar.style.background = colour;
      row.bar.style.width = `${Math.round((member.objects / most) * 100)}%`;
      const group = groups > 1 ? ` · group ${member.group}` : "";
      write(row.name, `Node ${member.node}${member.leader ? " ★" : ""}${group}`);
      row.name.title = member.leader ? "Leads its group" : "";
      const share = sum > 0 ? Math.round((member.objects / sum) * 100) : 0;
      write(row.objects, `${whole(member.objects)}`);
      row.objects.title = `${share} % of all objects`;
      const silent = member.silent > SILENT_MS;
      write(row.delay, silent ? "silent" : milliseconds(mean(member.delays)));
      row.delay.title = silent ? "No message for a while" : delayWords(member.delays);
      row.root.classList.toggle("silent", silent);
      const killer = row.root.querySelector("button");
      if (killer) killer.hidden = !canKill || members.length < 2;
    }
  }

  /** From the status if there is one, otherwise from the regions. */
  private members(): Member[] {
    const members = list(this.status.groups).flatMap((value) => {
      const group = fields(value);
      return list(group.members).map((one): Member => {
        const member = fields(one);
        const node = number(member.node) ?? -1;
        const delays = Object.entries(fields(member.delays_ms)).flatMap(([to, delay]) => {
          const known = number(delay);
          return known === null ? [] : [[to, known] as [string, number]];
        });
        return {
          node,
          group: number(group.group) ?? 0,
          leader: number(group.leader) === node,
          objects: number(member.objects) ?? 0,
          delays,
          silent: number(member.silent_ms) ?? 0,
        };
      });
    });
    const known = new Set(members.map((member) => member.node));
    for (const { group, leader, nodes } of this.regions.all()) {
      for (const node of nodes.filter((one) => !known.has(one))) {
        members.push({ node, group, leader: leader === node, objects: 0, delays: [], silent: 0 });
      }
    }
    return members.filter((one) => one.node >= 0).sort((a, b) => a.node - b.node);
  }

  private addRow(node: number): Row {
    const root = make("li");
    const swatch = make("i", "dot");
    const name = make("span", "name");
    const track = make("span", "track");
    const bar = make("span", "bar");
    track.append(bar);
    const objects = make("span", "count");
    const delay = make("span", "delay");
    const killer = make("button", "quiet", "✕");
    killer.setAttribute("type", "button");
    killer.setAttribute("aria-label", `Kill node ${node}`);
    killer.title = `Kill node ${node}`;
    killer.addEventListener("click", () => this.kill(node));
    root.append(swatch, name, track, objects, delay, killer);
    // Keeps the rows in order.
    const after = [...this.rows].find(([other]) => other > node)?.[1].root ?? null;
    this.root.insertBefore(root, after);
    const row = { root, swatch, name, bar, objects, delay };
    this.rows.set(node, row);
    return row;
  }
}
