import type { ServeApp } from "../serve-env.ts";

/** `/openapi.json`: generated from the schemas that check requests. */
export function addDocuments(app: ServeApp): void {
  let text: string | undefined;
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "a token that `callgate token create` made, or the JWT of the configured issuer",
  });
  app.get("/openapi.json", (c) => {
    text ??= JSON.stringify(app.getOpenAPI31Document(OVERVIEW));
    return c.body(text, 200, { "Content-Type": "application/json" });
  });
}

const OVERVIEW = {
  openapi: "3.1.0",
  info: {
    title: "Callgate",
    version: "1",
    description:
      "Decides, before a tool call of an AI agent runs, whether it may run. Anything but 200 means: not allowed.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "/" }],
  security: [{ token: [] }, {}],
};
