import { isRecord } from './mcp-lines.ts';
import type { Prepared } from './mcp-tool.ts';
import { plainText } from './terminal.ts';

/** Why nothing was sent. */
export class NotSentError extends Error {
  readonly code: 'declined' | 'cancelled' | 'consent_unavailable';

  constructor(code: NotSentError['code'], message: string) {
    super(`${message} Nothing was sent.`);
    this.code = code;
  }
}

/** Whether a host can show a form to the person. An empty capability means forms; a host may have addresses alone. */
export function canShowForms(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined;
  return isRecord(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

/** The parameters of `elicitation/create` for a write. */
export const questionFor = ({ act, body }: Prepared, address: string) => ({
  message: plainText(`Do you want to ${act} at ${address}?\n\n${shown(body)}`),
  requestedSchema: {
    type: 'object',
    properties: { send: { type: 'boolean', title: 'Send this', description: `To ${address}` } },
    required: ['send'],
  },
});

/** Throws unless the host's answer to the question is a clear yes. */
export function requireConsent(answer: unknown): void {
  const { action, content } = isRecord(answer) ? answer : {};
  if (action === 'accept' && isRecord(content) && content.send === true) return;
  if (action === 'accept')
    throw new NotSentError('declined', 'The form was accepted, but "send" in it is not true.');
  if (action === 'decline') throw new NotSentError('declined', 'The person declined.');
  if (action === 'cancel') throw new NotSentError('cancelled', 'The person did not decide.');
  throw new NotSentError('consent_unavailable', 'The host did not ask the person.');
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
