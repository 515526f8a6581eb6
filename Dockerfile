# okuri on Node, as a user without rights. Built by `docker compose build`; docs/operations.md tells how to run it.
# The tags are pinned; a bump is a commit of its own.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# No package's own script has to run: the compilers that tsx needs come as ready packages.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production \
    OKURI_LISTEN=0.0.0.0:8080 \
    OKURI_HEALTH_LISTEN=0.0.0.0:9090 \
    OKURI_DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json tsconfig.json LICENSE mod.ts ./
COPY src ./src
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 9090
# The image has no curl. Ready means: the store passed the probe and answers.
HEALTHCHECK --interval=10s --timeout=3s --start-period=40s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No npm in between: process 1 is okuri itself and gets SIGTERM.
ENTRYPOINT ["node", "--import", "tsx", "src/cli/main.ts"]
CMD ["serve"]
