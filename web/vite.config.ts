import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type ProxyOptions } from "vite";

const server = process.env.FABULA_ADDRESS ?? "http://127.0.0.1:8420";

// The server refuses pages of another origin; while developing, the proxy speaks for this one.
const toServer: ProxyOptions = {
  target: server,
  changeOrigin: true,
  configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", server)),
};

export default defineConfig({
  plugins: [svelte()],
  build: { target: "es2022", assetsInlineLimit: 0 },
  server: { proxy: { "/rpc": toServer, "/healthz": toServer, "/readyz": toServer, "/download": toServer } },
});
