import {
  context,
  type ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { RELEASE } from '../version.ts';
import { formatTraceparent } from './trace.ts';

const SCOPE = 'service';

/** The tracer of the SDK that `node --import` loaded before this file; undefined without one. */
const tracer = findTracer();

function findTracer(): Tracer | undefined {
  // Another copy of the package may have registered its proxy, which `instanceof` does not know.
  const provider = trace.getTracerProvider() as Partial<ProxyTracerProvider>;
  if (provider.getDelegateTracer) return provider.getDelegateTracer(SCOPE, RELEASE);
  return provider.getTracer?.(SCOPE, RELEASE);
}

/** What a span is called and begins with. Attributes follow OpenTelemetry's semantic conventions. */
export interface SpanDescription extends Pick<SpanOptions, 'kind' | 'attributes'> {
  name: string;
  /**
   * The spans elsewhere that caused this one: the only one is its parent, several are links of a new trace. Without
   * the list, the parent is the span that is active here.
   */
  causes?: readonly SpanContext[];
}

/**
 * Runs `work` in a span that ends with it, and marks the span as failed if `work` rejects. Without an SDK, or if
 * `describe` returns undefined, only runs `work`. No span has the message of an error, which may quote a text.
 */
export function inSpan<Result>(
  describe: () => SpanDescription | undefined,
  work: (span?: Span) => Promise<Result>,
): Promise<Result> {
  const description = tracer && describe();
  if (!tracer || !description) return work();
  const { name, causes, ...options } = description;
  const parent = causes ? parentOf(causes) : context.active();
  const links = causes && causes.length > 1 ? causes.map((cause) => ({ context: cause })) : [];
  const span = tracer.startSpan(name, { ...options, links }, parent);
  return context.with(trace.setSpan(parent, span), async () => {
    try {
      return await work(span);
    } catch (error) {
      const { code, name } = error as { code?: unknown; name: string };
      failSpan(span, typeof code === 'string' ? code : name);
      throw error;
    } finally {
      span.end();
    }
  });
}

function parentOf(causes: readonly SpanContext[]) {
  const [cause] = causes;
  return cause && causes.length === 1
    ? trace.setSpanContext(ROOT_CONTEXT, { ...cause, isRemote: true })
    : ROOT_CONTEXT;
}

/** Marks a span as failed; `type` is a code or the class of an error. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The `traceparent` with which what this span causes continues its trace; undefined without an SDK. */
export const traceparentOf = (span: Span | undefined): string | undefined =>
  span && formatTraceparent(span.spanContext());
