// How the page is built: few files with relative addresses, so that the binary can embed them and
// serve them from anywhere. For development `npm run dev` passes on to a server (or the mock).
import { defineConfig } from "vitest/config";

const server = process.env.JOSTLE_URL ?? "http://127.0.0.1:7448";

export default defineConfig({
  base: "./",
  build: { target: "es2022", chunkSizeWarningLimit: 1500, modulePreload: { polyfill: false } },
  server: {
    proxy: {
      "/view": { target: server, ws: true },
      "/ws": { target: server, ws: true },
      "/mesh": { target: server },
    },
  },
  test: { include: ["test/**/*.test.ts"] },
});
