# One image for all processes; the command is a command of `callgate`, such as `gate`. No process writes into the
# image: run it with a read-only root file system, as docker-compose.yml does.
FROM node:22.22.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY bin bin
COPY schemas schemas
COPY services services
COPY tasks tasks
# The image runs the analytics too: DuckDB, their optional peer, stays in the version of package-lock.json.
RUN npm run build && npm prune --omit=dev --ignore-scripts && \
  npm install --no-save --save-prod --omit=dev --ignore-scripts \
  "@duckdb/node-api@$(node -p 'require("./package.json").devDependencies["@duckdb/node-api"]')"

FROM node:22.22.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/bin bin
COPY --from=build /app/schemas schemas
COPY --from=build /app/dist/services dist/services
COPY examples examples
COPY infra/policies infra/policies
COPY infra/recordings infra/recordings
# A volume that is mounted here for the first time takes its owner from this directory.
RUN install -d -o node -g node /var/lib/callgate
USER node
EXPOSE 8080 8081 8082
ENTRYPOINT ["node", "bin/callgate.js"]
CMD ["--help"]
