import {
  changePanel,
  getDraft,
  type Panel,
  panelState,
  setDraft,
} from '../in-progress/panel-state.ts';
import { activePolicies } from './policy-list.tsx';

interface PreparedMessage {
  policyTitle: string;
  text: string;
}

/** Messages for the first policies, offered until a lead has prepared others. */
const SHIPPED: Readonly<Record<string, string>> = {
  spam: 'This reads as advertising. You can write again about the subject of this guestbook.',
  abuse: 'This attacks a person. Say what you disagree with, and leave the person out of it.',
  personal_data: 'This has details of a person who has not chosen to publish them. Leave them out.',
  illegal: 'We may not publish this. If you think that we are wrong, appeal and say why.',
  off_topic: 'This does not belong to this guestbook. Another one may be the right place.',
  other: 'We cannot publish this as it is. Read the policies, and write again.',
};

/** The prepared messages of all active policies, in the order of the policies. */
export function preparedMessages(): PreparedMessage[] {
  const policies = activePolicies();
  const own = policies.some(({ messages }) => messages.length > 0);
  return policies.flatMap(({ code, title, messages }) => {
    const shipped = SHIPPED[code];
    const texts = own || !shipped ? messages : [shipped];
    return texts.map((text) => ({ policyTitle: title, text }));
  });
}

/** Whether the panel chooses a policy, and therefore has messages to choose from. */
export const hasPrepared = ({ action }: Pick<Panel, 'action'>): boolean =>
  (action === 'reject' || action === 'remove') && preparedMessages().length > 0;

/** Shows or hides the prepared messages of the open panel. Returns whether there are any. */
export function togglePrepared(): boolean {
  const { panel } = panelState();
  if (!panel || !hasPrepared(panel)) return false;
  changePanel(panel.itemId, { prepared: !panel.prepared });
  return true;
}

/** Adds a prepared message to the typed text; a digit then decides under a policy. */
export function insertPrepared(index: number): void {
  const { panel } = panelState();
  const message = preparedMessages()[index];
  if (!panel || !message) return;
  const typed = getDraft(panel.itemId, panel.action).trim();
  setDraft(panel.itemId, panel.action, typed ? `${typed} ${message.text}` : message.text);
  changePanel(panel.itemId, { prepared: false });
  document.getElementById('panel')?.focus();
}
