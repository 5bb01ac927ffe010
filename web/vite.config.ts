import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin, type ProxyOptions } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const server = process.env.FABULA_ADDRESS ?? "http://127.0.0.1:8420";

// The server refuses pages of another origin; while developing, the proxy speaks for this one.
const toServer: ProxyOptions = {
  target: server,
  changeOrigin: true,
  ws: true,
  configure: (proxy) => {
    proxy.on("proxyReq", (request) => request.setHeader("origin", server));
    proxy.on("proxyReqWs", (request) => request.setHeader("origin", server));
  },
};
const PROXIED = ["/rpc", "/healthz", "/readyz", "/download", "/upload", "/sessions", "/api", "/enter", "/leave", "/ws"];

/** Puts boot.js into the head as a classic script of its own: it must run before the first paint, and inline is forbidden.
 *  It is told the files of the stage, so that a play's code is fetched while the app's is. */
function bootScript(): Plugin {
  const written = (bundle: Bundle): { file: string; source: string } => {
    const files = JSON.stringify(filesOf("rooms/stage/Stage.svelte", bundle));
    const source = readFileSync(join(here, "src/boot.js"), "utf-8").replace("STAGE_FILES = []", `STAGE_FILES = ${files}`);
    return { file: `assets/boot-${createHash("sha256").update(source).digest("hex").slice(0, 8)}.js`, source };
  };
  return {
    name: "boot-script",
    generateBundle(_, bundle) {
      const { file, source } = written(bundle);
      this.emitFile({ type: "asset", fileName: file, source });
    },
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle }) => html.replace("<!-- boot -->", `<script src="/${bundle ? written(bundle).file : "src/boot.js"}"></script>`),
    },
  };
}

type Bundle = Parameters<Extract<NonNullable<Plugin["generateBundle"]>, (...given: never[]) => unknown>>[1];

/** The scripts and style sheets that a module needs before it runs, without those that the page loads anyway. */
function filesOf(module: string, bundle: Bundle): string[] {
  const needed = (file: string, found: Set<string>): Set<string> => {
    const chunk = bundle[file];
    if (chunk?.type !== "chunk" || found.has(file)) return found;
    found.add(file);
    for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
    for (const other of chunk.imports) needed(other, found);
    return found;
  };
  const chunks = Object.values(bundle).filter((one) => one.type === "chunk");
  const first = chunks.filter((one) => one.isEntry).reduce((found, one) => needed(one.fileName, found), new Set<string>());
  const own = chunks.find((one) => one.facadeModuleId?.endsWith(module));
  return own === undefined ? [] : [...needed(own.fileName, new Set())].filter((file) => !first.has(file)).sort();
}

/** Gives the preloaded fonts of index.html the addresses that the build gives to them. */
function fontPreloads(): Plugin {
  const FONT = /href="(@fontsource[^"]+\/([^"/]+)\.woff2)"/g;
  return {
    name: "font-preloads",
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle }) =>
        html.replace(FONT, (_, path: string, name: string) => {
          const built = Object.keys(bundle ?? {}).find((file) => file.startsWith(`assets/${name}-`) && file.endsWith(".woff2"));
          return `href="/${built ?? `node_modules/${path}`}"`;
        }),
    },
  };
}

/** Collects the licences of everything that ends up in `dist`: fonts and some libraries ask for it. */
function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const id of this.getModuleIds()) folders.add(packageOf(id));
      for (const item of Object.values(bundle))
        if (item.type === "asset") for (const original of item.originalFileNames) folders.add(packageOf(join(here, original)));
      folders.delete("");
      const texts = [...folders].sort().map(licenceOf);
      this.emitFile({ type: "asset", fileName: "assets/licences.txt", source: texts.join(`\n${"-".repeat(80)}\n\n`) });
    },
  };
}

function packageOf(id: string): string {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\0", ""))?.[0] ?? "";
}

function licenceOf(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf-8")) as { name: string; version: string; license?: string };
  const file = existsSync(folder) ? readdirSync(folder).find((name) => /^licen[cs]e/i.test(name)) : undefined;
  const text = file === undefined ? `Licence: ${about.license ?? "see its package"}` : readFileSync(join(folder, file), "utf-8").trim();
  return `${about.name} ${about.version} (${about.license ?? "licence below"})\n\n${text}\n`;
}

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), bootScript(), fontPreloads(), licences()],
  build: { target: "es2022", assetsInlineLimit: 0, manifest: "manifest.json", modulePreload: { polyfill: false } },
  // Components are tested as the browser runs them, not as a server would render them.
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  server: { proxy: Object.fromEntries(PROXIED.map((path) => [path, toServer])) },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.ts"],
    setupFiles: ["./src/testing/setup.ts"],
    // A busy machine is slow, and nothing that is tested here is about time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
}));
