import { randomUUID } from 'node:crypto';
import { isRecord } from './mcp-lines.ts';
import type { Prepared } from './mcp-tool.ts';

// Revision 2026-07-28 has no `initialize`: each request names the revision and what the host can do, and a question to
// the person is a result, to which the host answers by calling again.

export const MODERN = '2026-07-28';
/** Revisions with `initialize`. Without 2025-03-26, the only one whose messages may come in batches. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2024-11-05'] as const;

const META = 'io.modelcontextprotocol';
const MAX_OPEN_QUESTIONS = 32;

/** A mistake against the protocol, as a JSON-RPC error. */
export class ProtocolError extends Error {
  readonly error: { code: number; message: string; data?: object };

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.error = { code, message, ...(data ? { data } : {}) };
  }
}

/**
 * The capabilities of the host, if the request is of revision 2026-07-28, and undefined for an earlier one. Throws a
 * `ProtocolError` for a revision that is unknown.
 */
export function modernCapabilities({ _meta: meta }: Record<string, unknown>): object | undefined {
  const version = isRecord(meta) ? meta[`${META}/protocolVersion`] : undefined;
  if (!isRecord(meta) || version === undefined) return undefined;
  if (version !== MODERN)
    throw new ProtocolError(-32022, 'Unsupported protocol version', {
      supported: [MODERN],
      requested: String(version),
    });
  const capabilities = meta[`${META}/clientCapabilities`];
  if (isRecord(capabilities)) return capabilities;
  throw new ProtocolError(-32602, `_meta needs ${META}/clientCapabilities`);
}

/** A result with the fields that revision 2026-07-28 adds; `cacheable` to those of lists. */
export const modernResult = (result: object, serverInfo: object, cacheable = false) => ({
  resultType: 'complete',
  ...(cacheable ? { ttlMs: 0, cacheScope: 'private' } : {}),
  ...result,
  _meta: { [`${META}/serverInfo`]: serverInfo },
});

/** The write for which the person is asked, until the host calls the tool again with the answer. */
interface Question {
  /** The tool and its arguments. */
  name: string;
  prepared: Prepared;
}

/** A call must wait for the person. */
export class QuestionResult {
  readonly result: object;

  constructor(requestState: string, params: object) {
    const consent = { method: 'elicitation/create', params };
    this.result = { resultType: 'input_required', inputRequests: { consent }, requestState };
  }
}

/**
 * Questions in revision 2026-07-28. What the person agreed to is kept here, not at the host, and each answer counts
 * once. An answer to a question that is no longer known is dropped, so that the person is asked again.
 */
export function createQuestions() {
  const open = new Map<string, Question>();
  return {
    /** Keeps a write, and returns the state with which the host calls again. */
    ask(question: Question): string {
      const [oldest] = open.keys();
      if (oldest !== undefined && open.size >= MAX_OPEN_QUESTIONS) open.delete(oldest);
      const state = randomUUID();
      open.set(state, question);
      return state;
    },
    /** Takes the answer to a question about this write, and what was asked. */
    take(name: string, { requestState, inputResponses }: Record<string, unknown>) {
      const question = open.get(String(requestState));
      if (question?.name !== name) return undefined;
      open.delete(String(requestState));
      const answer = isRecord(inputResponses) ? inputResponses.consent : undefined;
      return { prepared: question.prepared, answer };
    },
  };
}
