// A WebSocket that comes back by itself, waiting longer each time. Who uses it says hello when it
// opens, and hears texts and bytes; nothing that comes in can break it.

export type LineState =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "waiting"; seconds: number }
  | { kind: "stopped" };

export interface LineUser {
  /** What is said first. */
  hello(): object;
  text(message: string): void;
  bytes?(message: ArrayBuffer): void;
  state(state: LineState): void;
}

const WAIT_SECONDS = [0.5, 1, 2, 4, 8, 15];
/** A line that held this long was a good one: begin with short waits again. */
const GOOD_MS = 5000;

export class Line {
  received = 0;
  private socket: WebSocket | null = null;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly path: string,
    private readonly user: LineUser,
  ) {}

  start(): void {
    this.stop();
    this.user.state({ kind: "connecting" });
    const address = new URL(this.path, document.baseURI);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let opened = 0;
    socket.onopen = () => {
      opened = performance.now();
      socket.send(JSON.stringify(this.user.hello()));
      this.user.state({ kind: "open" });
    };
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (this.socket !== socket) return;
      if (typeof data === "string") {
        this.received += data.length;
        this.user.text(data);
      } else if (data instanceof ArrayBuffer) {
        this.received += data.byteLength;
        this.user.bytes?.(data);
      }
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      if (opened > 0 && performance.now() - opened > GOOD_MS) this.failures = 0;
      this.again();
    };
  }

  /** Ends the line; it does not come back by itself. */
  stop(): void {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    if (socket === null) return;
    // A socket that is not open yet is closed once it is: closing now would be logged as an error.
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket.close();
    this.user.state({ kind: "stopped" });
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Says something if the line is open. */
  say(message: object): void {
    if (this.isOpen) this.socket?.send(JSON.stringify(message));
  }

  private again(): void {
    this.socket = null;
    const longest = WAIT_SECONDS.length - 1;
    const seconds = WAIT_SECONDS[Math.min(this.failures++, longest)]!;
    this.user.state({ kind: "waiting", seconds });
    this.timer = setTimeout(() => this.start(), seconds * 1000);
  }
}
