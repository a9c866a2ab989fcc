import { readFileSync } from 'node:fs';
import { ProblemError } from '../send.ts';
import type { Commands } from './command.ts';
import { type Context, hasNoAnswer } from './context.ts';
import { canShowForms, NotSentError, questionFor, requireConsent } from './mcp-consent.ts';
import { isRecord, type Message, readMessages, writeMessage } from './mcp-lines.ts';
import {
  createQuestions,
  LEGACY,
  MODERN,
  modernCapabilities,
  modernResult,
  ProtocolError,
  QuestionResult,
} from './mcp-revision.ts';
import { pieceOf, shortened } from './mcp-size.ts';
import {
  ArgumentError,
  type Arguments,
  checkArguments,
  type Prepared,
  type WritingTool,
} from './mcp-tool.ts';
import { listTools, TOOLS } from './mcp-tools.ts';
import { findSandboxNotice } from './sandbox.ts';
import { plainText } from './terminal.ts';

// The stdio transport of MCP is written here, so that the package keeps its promise of no dependencies.

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
  answer: object | QuestionResult;
  delivered?: () => void;
}

/** A call of a tool. */
interface Call {
  params: Message['params'];
  /** What the host can do, in revision 2026-07-28. */
  capabilities: object | undefined;
  signal: AbortSignal;
}

export const MCP_COMMANDS: Commands = {
  mcp: {
    options: { yes: { type: 'boolean' } },
    summary:
      'Serves MCP on the standard input and output, with tools that write as the member. The host asks the person before each write, by elicitation; with --yes nothing is asked. In the configuration of the host: { "mcpServers": { "service": { "command": "svc", "args": ["mcp"] } } }.',
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
  const writes = new Map<string, Promise<object | QuestionResult>>();
  const modernQuestions = createQuestions();
  let asked = 0;
  let hostCapabilities: unknown;
  let hostGone = false;

  const finishing = finishPending(context);
  const serverInfo = { name: 'svc', title: 'Member of the service', version: readVersion() };
  const instructions = [
    `Acts as ${context.registration().handle} at ${address}. What the tools write is public.`,
    (await findSandboxNotice(address)) ?? '',
  ]
    .join(' ')
    .trim();

  /** Asks the person by a request to the host, and throws unless the answer is yes. */
  async function askConsent(prepared: Prepared, { signal }: Call): Promise<void> {
    asked += 1;
    const id = `consent-${asked}`;
    const answer = await new Promise<Message | undefined>((resolve) => {
      if (hostGone) return resolve(undefined);
      questions.set(id, resolve);
      signal.addEventListener('abort', () => resolve(undefined));
      writeMessage({ id, method: 'elicitation/create', params: questionFor(prepared, address) });
    });
    questions.delete(id);
    if (answer === undefined) throw new NotSentError('cancelled', 'The call was cancelled.');
    requireConsent(answer.result);
  }

  /** Returns the write to which the person has agreed, or the question to ask. */
  async function consentedWrite(
    { tool, key, checked }: { tool: WritingTool; key: string; checked: Arguments },
    call: Call,
  ): Promise<Prepared | QuestionResult> {
    const taken = modernQuestions.take(key, call.params);
    if (taken) {
      requireConsent(taken.answer);
      return taken.prepared;
    }
    const prepared = await tool.prepare(context.client(), checked);
    if (yes) return prepared;
    if (!canShowForms(call.capabilities ?? hostCapabilities))
      throw new NotSentError(
        'consent_unavailable',
        'This host cannot ask the person (elicitation). Start svc mcp with --yes to write without asking.',
      );
    if (call.capabilities)
      return new QuestionResult(
        modernQuestions.ask({ name: key, prepared }),
        questionFor(prepared, address),
      );
    await askConsent(prepared, call);
    return prepared;
  }

  async function callTool(name: string, call: Call): Promise<Outcome> {
    const tool = TOOLS[name];
    if (!tool) throw new ArgumentError('There is no such tool.');
    const checked = checkArguments(tool, call.params.arguments ?? {});
    if ('read' in tool) {
      const answer = await tool.read(context, checked);
      return {
        answer: tool.inPieces ? pieceOf(answer, checked.offset ?? 0) : shortened(answer),
      };
    }
    // A host that repeats a call before it has an answer means the same write.
    const key = nameOf(name, checked);
    const write =
      writes.get(key) ??
      callWritingTool(name, checked, call).finally(() => {
        writes.delete(key);
      });
    writes.set(key, write);
    const answer = await write;
    if (answer instanceof QuestionResult) return { answer };
    // Once the host has the answer, the same call is another write.
    const delivered = () => context.store.dropAnswer([WRITE, name, checked]);
    return { answer: shortened(answer), delivered };
  }

  async function callWritingTool(
    name: string,
    checked: Arguments,
    call: Call,
  ): Promise<object | QuestionResult> {
    const tool = TOOLS[name] as WritingTool;
    const key = nameOf(name, checked);
    await finishing.get(key);
    const before = context.store.answerTo([WRITE, name, checked], ANSWER_KEPT_MS);
    if (before) return { ...before, finished_before: true };
    const write = await consentedWrite({ tool, key, checked }, call);
    if (write instanceof QuestionResult) return write;
    call.signal.throwIfAborted();
    const saved: Saved = { tool: name, given: checked, body: write.body };
    return send(context, saved, async () => saved);
  }

  function handle({ id, method, params, result, error }: Message): void {
    if (method === undefined) questions.get(String(id))?.({ params: {}, result, error });
    else if (method === 'notifications/cancelled')
      running.get(params.requestId as string | number)?.abort();
    else if (id === undefined)
      return; // other notifications need nothing
    else answerRequest(id, method, params);
  }

  function answerRequest(id: string | number, method: string, params: Message['params']): void {
    try {
      const capabilities = modernCapabilities(params);
      if (method === 'tools/call') startCall(id, params, capabilities);
      else writeMessage({ id, result: capabilities ? modern(method) : legacy(method, params) });
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      writeMessage({ id, error: error.error });
    }
  }

  function legacy(method: string, params: Message['params']): object {
    if (method === 'initialize') return initialize(params);
    if (method === 'ping') return {};
    if (method === 'tools/list') return { tools: listTools() };
    throw new ProtocolError(-32601, 'There is no such method');
  }

  function modern(method: string): object {
    const found = { supportedVersions: [MODERN], capabilities: { tools: {} }, instructions };
    if (method === 'server/discover') return modernResult(found, serverInfo, true);
    if (method === 'tools/list') return modernResult({ tools: listTools() }, serverInfo, true);
    throw new ProtocolError(-32601, 'There is no such method');
  }

  function initialize({ protocolVersion, capabilities }: Message['params']): object {
    hostCapabilities = capabilities;
    return {
      protocolVersion: LEGACY.find((version) => version === protocolVersion) ?? LEGACY[0],
      capabilities: { tools: {} },
      serverInfo,
      instructions,
    };
  }

  function startCall(
    id: string | number,
    params: Message['params'],
    capabilities: object | undefined,
  ): void {
    const { name } = params;
    if (typeof name !== 'string' || !Object.hasOwn(TOOLS, name))
      throw new ProtocolError(-32602, 'There is no such tool');
    if (running.has(id)) throw new ProtocolError(-32600, 'A request with this id is running');
    if (running.size >= MAX_RUNNING) throw new ProtocolError(-32000, 'Too many calls are running');
    runCall(id, name, params, capabilities);
  }

  function runCall(
    id: string | number,
    name: string,
    params: Message['params'],
    capabilities: object | undefined,
  ): void {
    const controller = new AbortController();
    running.set(id, controller);
    const toReply = (result: object) => (capabilities ? modernResult(result, serverInfo) : result);
    const call = callTool(name, { params, capabilities, signal: controller.signal })
      .then(
        ({ answer, delivered }) => ({
          result: answer instanceof QuestionResult ? answer.result : toResult(answer),
          delivered,
        }),
        (failure) => ({
          result: toResult(shortened(toProblem(failure)), true),
          delivered: undefined,
        }),
      )
      .then(({ result, delivered }) => {
        running.delete(id);
        calls.delete(call);
        // The answer of a cancelled call waits for the host to ask again.
        if (!controller.signal.aborted) writeMessage({ id, result: toReply(result) }, delivered);
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
  if (error instanceof ProblemError && error.code !== 'unknown') {
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
  if (hasNoAnswer(error) || error instanceof ProblemError) {
    const advice = 'Call the tool again with the same arguments: a request has its effect once.';
    return { code: 'no_answer', message: `The service did not answer. ${advice}` };
  }
  return { code: 'failed', message };
}

/** The version in package.json, which is two folders above this file, in the package as well. */
function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
