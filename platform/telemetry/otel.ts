import { createRequire } from 'node:module';

/**
 * The API of OpenTelemetry as CommonJS, which prom-client loads anyway: as ES modules it is another 51 files, which
 * every process and command would load as well.
 */
export const { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = createRequire(
  import.meta.url,
)('@opentelemetry/api') as typeof import('@opentelemetry/api');
