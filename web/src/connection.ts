// A WebSocket that reconnects with increasing delays. It sends a hello when it opens, and passes on
// texts and bytes; malformed input does not break it.

export type LineState =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "waiting"; seconds: number }
  | { kind: "stopped" };

export interface ConnectionUser {
  /** The first message. */
  hello(): object;
  text(message: string): void;
  bytes?(message: ArrayBuffer): void;
  state(state: LineState): void;
}

const WAIT_SECONDS = [0.5, 1, 2, 4, 8, 15];
/** After a connection of this duration the reconnect delay starts over. */
const GOOD_MS = 5000;

export class ServerConnection {
  received = 0;
  private socket: WebSocket | null = null;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly path: string,
    private readonly user: ConnectionUser,
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

  /** Closes the connection without reconnecting. */
  stop(): void {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    if (socket === null) return;
    // Closed once it is open: closing a connecting socket would be logged as an error.
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket.close();
    this.user.state({ kind: "stopped" });
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Sends a message if the connection is open. */
  send(message: object): void {
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
