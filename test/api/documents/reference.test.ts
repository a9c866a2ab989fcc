import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { needs } from '../../../harness/programs.ts';
import { signedIn } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';

/** The paths of the reference's pages, from the links of the first. */
async function referencePaths(service: Service) {
  const { text } = await service.call('GET', '/docs');
  const [, list = ''] = /<ul class="pages">(.*?)<\/ul>/s.exec(text) ?? [];
  return [...list.matchAll(/ href="([^"]+)"/g)].map(([, path = '']) => path);
}

t.test('the pages of the reference are compressed and revalidated', async (t) => {
  const service = await startService(t);
  const paths = await referencePaths(service);
  t.ok(paths.length > 15, paths.join(' '));
  for (const path of [...paths, '/docs/docs.css']) {
    const { headers } = await service.call('GET', path, { headers: { 'accept-encoding': 'br' } });
    t.equal(headers.get('content-encoding'), 'br', path);
    const etag = headers.get('etag') ?? '';
    t.match(etag, /-br"$/, path);
    const again = await service.call('GET', path, { headers: { 'if-none-match': etag } });
    t.equal(again.status, 304, path);
  }
});

t.test('other addresses below the reference are unknown', async (t) => {
  const service = await startService(t);
  for (const file of [
    'docs.js',
    'swagger-ui-bundle.js',
    'swagger-ui.css',
    'index.html',
    'nonsense',
    '',
  ]) {
    const { status, body } = await service.call('GET', `/docs/${file}`);
    t.same([status, body.status], [404, 'not_found'], file);
  }
});

/** The end of an account or a session comes last, so that the other commands can use it. */
const ENDINGS = /^(credential\.ro|account\.delete|moderation\.sign_out|membership\.logout)/;
/** Codes of requests that are wrong in themselves, whatever the records are. */
const MALFORMED =
  /^(invalid_|query_not|unsupported_|method_not|origin_not|fetch_site|credential_required|session_required|moderator_required|scope_required|role_required)/;

const plainText = (html: string) =>
  html
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

/** A stream, which does not end by itself. */
const ENDLESS = 'moderation.stream';

/** Runs a command for at most some seconds; returns the status and the body. */
async function runCurl(command: string, seconds: number) {
  const run = spawn('sh', ['-eu'], { stdio: ['pipe', 'pipe', 'ignore'] });
  run.stdin.end(
    `curl() { command curl --max-time ${seconds} -w '\\n%{http_code}' "$@" || true; }\n${command}`,
  );
  const chunks: Buffer[] = [];
  run.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(run, 'close');
  const output = Buffer.concat(chunks).toString();
  const end = output.lastIndexOf('\n');
  return { status: output.slice(end + 1), text: output.slice(0, end) };
}

/** A busy machine may not answer within a short time; curl then gives the status 000. */
async function runEndless(command: string) {
  for (let seconds = 2; ; seconds *= 2) {
    const answer = await runCurl(command, seconds);
    if (answer.status !== '000' || seconds > 60) return answer;
  }
}

t.test(
  'each example request runs unchanged, with a credential put in',
  needs('curl'),
  async (t) => {
    const service = await startService(t);
    const credentials: Record<string, string> = {
      BEARER: (await newAgent(service)).authorization.replace('Bearer ', ''),
      SESSION: (await signedIn(service)).cookie.replace(/^[^=]*=/, ''),
      MODERATOR: (await addModerator(service, 'ann', 'lead')).token,
    };
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    const operations = (Object.values(paths) as object[]).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string; responses: object }>),
    );
    const texts = await Promise.all(
      (await referencePaths(service)).map(async (path) => (await service.call('GET', path)).text),
    );
    const pages = texts.join('\n');
    const commandOf = (id: string) => {
      const section = pages.slice(pages.indexOf(`<section class="operation" id="operation-${id}"`));
      const [, command = ''] =
        /Example request<\/h3>\n<pre><code>(.*?)<\/code>/s.exec(section) ?? [];
      return plainText(command).replace(
        /^([A-Z]+)='.*<.*>'$/m,
        (_, name: string) => `${name}='${credentials[name]}'`,
      );
    };
    const isEnding = ({ operationId }: { operationId: string }) => ENDINGS.test(operationId);
    for (const { operationId, responses } of [
      ...operations.filter((operation) => !isEnding(operation)),
      ...operations.filter(isEnding),
    ]) {
      const { status, text } = await (operationId === ENDLESS
        ? runEndless(commandOf(operationId))
        : runCurl(commandOf(operationId), 60));
      t.ok(status in responses, `${operationId}: ${status} ${text.slice(0, 300)}`);
      const code = /^\{"status":"([a-z_]+)"/.exec(text)?.[1] ?? '';
      // The token to sign in with is in the body, and that of the example is unknown.
      if (operationId === 'moderation.sign_in') t.equal(code, 'moderator_required');
      else t.notMatch(code, MALFORMED, `${operationId}: ${text.slice(0, 500)}`);
      t.notMatch(text, /^\{"jsonrpc".*"error"/, operationId);
    }
  },
);
