import { defineConfig } from "vite";
import { sessionWithoutSignIn } from "./dev/session.ts";

const api = process.env["BLAZAR_API"] ?? "http://127.0.0.1:1234";

export default defineConfig({
  // The page is served under paths that the build does not know, such as inside Horizon.
  base: "./",
  plugins: [sessionWithoutSignIn()],
  build: {
    outDir: process.env["CONSOLE_OUT"] ?? "../src/blazar/ui/bundle",
    emptyOutDir: true,
    // The service's content security policy permits no data: scripts and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licences.txt" },
    chunkSizeWarningLimit: 1000,
    target: "es2022",
    // Those that know light-dark().
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": { target: api, rewrite: (path) => path.replace(/^\/api/, "") },
    },
  },
  test: { include: ["tests/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
