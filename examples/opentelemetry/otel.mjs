// Sends the traces of a process to a collector, with OTLP over HTTP:
//   npm ci --prefix examples/opentelemetry
//   OTEL_SERVICE_NAME=service-web OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example:4318 \
//     node --import ./examples/opentelemetry/otel.mjs services/web.ts
// OTEL_TRACES_SAMPLER_ARG is the share of traces that are sent: 0.1 is a tenth.
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const provider = new TracerProvider({
  // By the id alone, so that web and worker choose the same, and a caller's flag does not choose for them.
  sampler: new TraceIdRatioBasedSampler(Number(process.env.OTEL_TRACES_SAMPLER_ARG ?? 1)),
  resource: detectResources({ detectors: [envDetector] }),
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
});
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
trace.setGlobalTracerProvider(provider);

// Web and worker end when nothing is left to do; the last spans leave before that.
process.once('beforeExit', () => {
  provider.shutdown().catch(console.error);
});
