import { readFileSync } from 'node:fs';
import { NoAnswerError, ProblemError } from '../send.ts';
import type { Commands } from './command.ts';
import type { Context } from './context.ts';
import { isRecord, type Message, readMessages, writeError, writeMessage } from './mcp-lines.ts';
import {
  ArgumentError,
  type Arguments,
  checkArguments,
  listTools,
  type Prepared,
  TOOLS,
  type WritingTool,
} from './mcp-tools.ts';
import { plainText } from './terminal.ts';

// The stdio transport of MCP is written here, so that the package keeps its promise of no dependencies.

// Without 2025-03-26, the only revision whose messages may come in batches.
const VERSIONS = ['2025-11-25', '2025-06-18', '2024-11-05'];
const MAX_RUNNING = 32;
const WRITE = 'mcp';
/** How long an answer that did not reach the host is the answer to the same call, in milliseconds. */
const ANSWER_KEPT_MS = 3_600_000;

/** A write of the bridge, saved before it is sent. */
interface Saved {
  tool: string;
  given: Arguments;
  body: object;
}

/** The answer of a tool, and what is to be done once the host has it. */
interface Outcome {
  answer: object;
  delivered?: () => void;
}

/** Why nothing was sent. */
class NotSentError extends Error {
  readonly code: 'declined' | 'cancelled' | 'consent_unavailable';

  constructor(code: NotSentError['code'], message: string) {
    super(`${message} Nothing was sent.`);
    this.code = code;
  }
}

export const MCP_COMMANDS: Commands = {
  mcp: {
    options: { yes: { type: 'boolean' } },
    summary:
      'Serves MCP on the standard input and output, with tools that write as the member. The host asks the person before each write; with --yes nothing is asked.',
    example: 'svc mcp',
    run: (context, given) => serve(context, given.flag('yes')),
  },
};

async function serve(context: Context, yes: boolean): Promise<void> {
  const address = context.registration().base_url;
  const running = new Map<string | number, AbortController>();
  const calls = new Set<Promise<void>>();
  const questions = new Map<string, (answer?: Message) => void>();
  /** Writes that are running, by tool and arguments. */
  const writes = new Map<string, Promise<object>>();
  let asked = 0;
  let canAsk = false;
  let hostGone = false;

  const finishing = finishPending(context);

  /** Asks the person, and throws unless the answer is yes. */
  async function askConsent({ act, body }: Prepared, signal: AbortSignal): Promise<void> {
    if (yes) return;
    if (!canAsk)
      throw new NotSentError(
        'consent_unavailable',
        'This host cannot ask the person (elicitation). Start svc mcp with --yes to write without asking.',
      );
    asked += 1;
    const id = `consent-${asked}`;
    const answer = await new Promise<Message | undefined>((resolve) => {
      if (hostGone) return resolve(undefined);
      questions.set(id, resolve);
      signal.addEventListener('abort', () => resolve(undefined));
      const params = {
        message: plainText(`Do you want to ${act} at ${address}?\n\n${shown(body)}`),
        requestedSchema: {
          type: 'object',
          properties: {
            send: { type: 'boolean', title: 'Send this', description: `To ${address}` },
          },
          required: ['send'],
        },
      };
      writeMessage({ id, method: 'elicitation/create', params });
    });
    questions.delete(id);
    if (answer === undefined) throw new NotSentError('cancelled', 'The call was cancelled.');
    const { action, content } = isRecord(answer.result) ? answer.result : {};
    if (action === 'accept' && isRecord(content) && content.send === true) return;
    if (action === 'accept' || action === 'decline')
      throw new NotSentError('declined', 'The person declined.');
    if (action === 'cancel') throw new NotSentError('cancelled', 'The person did not decide.');
    throw new NotSentError('consent_unavailable', 'The host did not ask the person.');
  }

  async function callTool(name: string, given: unknown, signal: AbortSignal): Promise<Outcome> {
    const tool = TOOLS[name];
    if (!tool) throw new ArgumentError('There is no such tool.');
    const checked = checkArguments(tool, given ?? {});
    if ('read' in tool) return { answer: await tool.read(context, checked) };
    // A host that repeats a call before it has an answer means the same write.
    const key = nameOf(name, checked);
    const write =
      writes.get(key) ?? callWritingTool(name, checked, signal).finally(() => writes.delete(key));
    writes.set(key, write);
    // Once the host has the answer, the same call is another write.
    const delivered = () => context.store.dropAnswer([WRITE, name, checked]);
    return { answer: await write, delivered };
  }

  async function callWritingTool(
    name: string,
    given: Arguments,
    signal: AbortSignal,
  ): Promise<object> {
    const tool = TOOLS[name] as WritingTool;
    await finishing.get(nameOf(name, given));
    const before = context.store.answerTo([WRITE, name, given], ANSWER_KEPT_MS);
    if (before) return { ...before, finished_before: true };
    const prepared = await tool.prepare(context.client(), given);
    await askConsent(prepared, signal);
    signal.throwIfAborted();
    const saved: Saved = { tool: name, given, body: prepared.body };
    return send(context, saved, async () => saved);
  }

  function handle({ id, method, params, result, error }: Message): void {
    if (method === undefined) questions.get(String(id))?.({ params: {}, result, error });
    else if (method === 'notifications/cancelled')
      running.get(params.requestId as string | number)?.abort();
    else if (id === undefined)
      return; // other notifications need nothing
    else if (method === 'tools/call') startCall(id, params);
    else writeMessage({ id, ...replyTo(method, params) });
  }

  function replyTo(method: string, params: Message['params']): object {
    if (method === 'initialize') return { result: initialize(params) };
    if (method === 'ping') return { result: {} };
    if (method === 'tools/list') return { result: { tools: listTools() } };
    return { error: { code: -32601, message: 'There is no such method' } };
  }

  function initialize({ protocolVersion, capabilities }: Message['params']): object {
    const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined;
    // An empty capability means forms; a host may have addresses alone.
    canAsk = isRecord(elicitation) && ('form' in elicitation || !('url' in elicitation));
    return {
      protocolVersion: VERSIONS.find((version) => version === protocolVersion) ?? VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'svc', title: 'Member of the service', version: readVersion() },
      instructions: `Acts as ${context.registration().handle} at ${address}. What the tools write is public.`,
    };
  }

  function startCall(id: string | number, { name, arguments: given }: Message['params']): void {
    const refuse = (code: number, message: string) => writeError(id, code, message);
    if (typeof name !== 'string' || !Object.hasOwn(TOOLS, name))
      refuse(-32602, 'There is no such tool');
    else if (running.has(id)) refuse(-32600, 'A request with this id is running');
    else if (running.size >= MAX_RUNNING) refuse(-32000, 'Too many calls are running');
    else runCall(id, name, given);
  }

  function runCall(id: string | number, name: string, given: unknown): void {
    const controller = new AbortController();
    running.set(id, controller);
    const call = callTool(name, given, controller.signal)
      .then(
        ({ answer, delivered }) => ({ result: toResult(answer), delivered }),
        (failure) => ({ result: toResult(toProblem(failure), true), delivered: undefined }),
      )
      .then(({ result, delivered }) => {
        running.delete(id);
        calls.delete(call);
        // The answer of a cancelled call waits for the host to ask again.
        if (!controller.signal.aborted) writeMessage({ id, result }, delivered);
      });
    calls.add(call);
  }

  await readMessages(process.stdin, handle);
  // The host asks for nothing more: open questions have no answer, and what was sent is finished.
  hostGone = true;
  for (const answer of questions.values()) answer(undefined);
  await Promise.all([...calls, ...finishing.values()]);
}

/** Names a write: the same tool with the same arguments. */
const nameOf = (tool: string, given: Arguments): string => JSON.stringify([tool, given]);

/**
 * Sends a write, or the request that was saved by an earlier process with the same tool and arguments. The answer is
 * kept until the host has it: a process that is killed before does not write a second time.
 */
function send(context: Context, { tool: name, given }: Saved, body: () => Promise<Saved>) {
  const tool = TOOLS[name];
  if (!tool || 'read' in tool) throw new Error('The saved request is of no tool that writes');
  const command = [WRITE, name, given];
  return context.write(command, body, async (saved, options) => {
    const answer = await tool.send(context.client(), saved.given, saved.body as never, options);
    context.store.keepAnswer(command, answer);
    return answer;
  });
}

/** Finishes the requests that a killed bridge has left, to which the person had consented; by their names. */
function finishPending(context: Context): Map<string, Promise<void>> {
  const gone = new Error('Another process has finished it');
  const finishOne = async (saved: Saved) => {
    try {
      await send(context, saved, () => Promise.reject(gone));
    } catch (error) {
      if (error === gone) return;
      const code = error instanceof ProblemError ? error.code : 'no_answer';
      console.error(plainText(`A saved request of ${saved.tool} was not finished: ${code}`));
    }
  };
  const left = context.store.pendingWrites().map(({ body }) => body as Saved);
  const own = left.filter(
    (saved) => isRecord(saved) && Object.hasOwn(TOOLS, String(saved.tool)) && isRecord(saved.given),
  );
  return new Map(own.map((saved) => [nameOf(saved.tool, saved.given), finishOne(saved)]));
}

const toResult = (answer: object, isError = false) => ({
  content: [{ type: 'text', text: JSON.stringify(answer) }],
  structuredContent: answer,
  ...(isError ? { isError } : {}),
});

function toProblem(error: unknown): object {
  if (error instanceof ProblemError) {
    const { status, code, reason, issues, retryAfter, resetsIn, body } = error;
    return {
      code,
      status,
      message: body.error?.message ?? 'The service refused the request.',
      ...(reason === undefined ? {} : { reason }),
      ...(issues.length === 0 ? {} : { issues }),
      ...(retryAfter === undefined ? {} : { retry_after_seconds: retryAfter }),
      ...(resetsIn === undefined ? {} : { resets_in_seconds: resetsIn }),
    };
  }
  const { message } = error as Error;
  if (error instanceof NotSentError) return { code: error.code, message };
  if (error instanceof ArgumentError) return { code: 'invalid_arguments', message };
  if (error instanceof NoAnswerError) {
    const advice = 'Call the tool again with the same arguments: a request has its effect once.';
    return { code: 'no_answer', message: `The service did not answer. ${advice}` };
  }
  return { code: 'failed', message };
}

/** The fields of a request for a person. Each line of a value is indented, so that it cannot pass for the bridge's. */
const shown = (body: object): string =>
  Object.entries(body)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}:\n    ${readable(value).replace(/\r\n?|\n/g, '\n    ')}`)
    .join('\n');

function readable(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => `- ${readable(one)}`).join('\n');
  if (isRecord(value)) return shown(value);
  return String(value);
}

/** The version in package.json, which is two folders above this file, in the package as well. */
function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
