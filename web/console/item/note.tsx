import { MAX_COUNTED } from '../../../domain/publications/words.ts';
import { ClaimTag } from '../claims/claim-tag.tsx';
import { Actions } from '../decide/actions.tsx';
import { findPolicy } from '../decide/policy-list.tsx';
import { itemAddress, NO_FILTERS, onPlainClick, viewAddress } from '../queue/address.ts';
import { leaveItem, openItem, showView } from '../queue/navigation.ts';
import { placeState } from '../queue/queue-state.ts';
import { detailState } from '../queue/read-item.ts';
import { settingsState } from '../session/settings.ts';
import { appealOf, type Item, isMember, isNote, type NoteItem } from '../words/api-model.ts';
import { currentAge, formatDuration, formatTime, fullTime, plural } from '../words/format.ts';
import { authorName, decisionText, kindBy } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { AuthorDrawer, authorFilter, drawerState, showDrawer } from './author-drawer.tsx';
import { Content } from './content.tsx';
import { Flags, LookAlikes } from './flags.tsx';
import { FoldSection } from './fold.tsx';
import { DisablingText } from './membership.tsx';
import { History, Thread } from './thread.tsx';

/** The current note or record, with the information that a decision needs. */
export function Note({ item }: { item: Item | undefined }) {
  const { details } = detailState();
  const { filters } = placeState();
  const { drawer } = drawerState();
  if (!item) return <section class="note none" aria-label="Note" />;
  const detail = details.get(item.id);
  const note = isNote(item) ? item : null;
  const appeal = appealOf(item);
  return (
    <section class="note" aria-labelledby="note-title">
      <div class="note-scroll">
        <button type="button" class="button quiet back" onClick={leaveItem}>
          <span aria-hidden="true">←</span> List
        </button>
        <NoteHead item={item} />
        <Content item={item} thread={detail?.thread} query={filters.q} />
        {isMember(item) && item.decision?.decision !== 'disabled' && (
          <DisablingText disabling={item.disabling} />
        )}
        {appeal && <AppealText appeal={appeal} />}
        {item.decision && <DecisionText item={item} decision={item.decision} />}
        {!isMember(item) && <Flags item={item} />}
        {note && <LookAlikes note={note} />}
        {note && <FoldSection note={note} key={`fold ${note.id}`} />}
        <AuthorRecord item={item} />
        {note && <Thread detail={detail} />}
        <History detail={detail} itemId={item.id} />
      </div>
      {drawer && <AuthorDrawer item={item} />}
      <Actions item={item} />
    </section>
  );
}

interface ItemProps {
  item: Item;
}

function NoteHead({ item }: ItemProps) {
  const { filters } = placeState();
  const note = isNote(item) ? item : null;
  return (
    <header class="note-head">
      <h2 id="note-title" tabIndex={-1}>
        {kindBy(item)} <MarkedText text={authorName(item)} query={filters.q} />
      </h2>
      <p class="hint">
        <a href={itemAddress(item.id)} onClick={onPlainClick(() => openItem(item.id))}>
          <time dateTime={item.received_at} title={fullTime(item.received_at)}>
            {formatTime(item.received_at)}
          </time>
        </a>{' '}
        · {ageText(item)}
        {note && ` · ${note.experience}`}
        {note?.deferred_until && ` · deferred until ${formatTime(note.deferred_until)}`}
      </p>
      <p class="status-line">
        <span class={`tag ${item.state}`}>{item.state}</span> <ClaimTag item={item} />
      </p>
    </header>
  );
}

const ageText = (item: Item): string =>
  item.state === 'pending'
    ? `waiting ${formatDuration(currentAge(item))}`
    : `${formatDuration(currentAge(item))} old`;

function AppealText({ appeal }: { appeal: NonNullable<NoteItem['appeal']> }) {
  return (
    <section class="box accent">
      <h3>
        Appeal, {appeal.state}, {formatTime(appeal.opened_at)}
      </h3>
      <MarkedText text={appeal.text} class="quoted" />
    </section>
  );
}

function DecisionText({ item, decision }: ItemProps & { decision: NonNullable<Item['decision']> }) {
  const policy = findPolicy(decision.policy);
  return (
    <p class="decision">
      {decisionWords(decision.decision, policy?.title ?? decision.policy ?? undefined)} by{' '}
      <bdi>{decision.moderator?.name ?? (isMember(item) ? 'the operator' : 'the service')}</bdi>,{' '}
      {formatTime(decision.decided_at)}
      {notificationText(item)}
      {decision.message && <MarkedText text={decision.message} class="quoted" />}
    </p>
  );
}

function decisionWords(decision: NonNullable<Item['decision']>['decision'], policy?: string) {
  if (decision === 'disabled') return policy ? `Disabled: ${policy}` : 'Disabled';
  return decision === 'enabled' ? 'Enabled' : decisionText(DECISION_ACTIONS[decision], policy);
}

/** When the author, or the reporters of a kept item, are notified. Guests are never notified. */
function notificationText(item: Item): string {
  const { author, decision, state } = item;
  if (!decision || state === 'pending') return '.';
  const kept = decision.decision === 'kept';
  if (author.kind === 'guest' && !kept) return '.';
  const reader = isMember(item) ? 'the member' : 'the author';
  if (decision.told_at) return kept ? '; reporters were notified.' : `; ${reader} was notified.`;
  if (!decision.undo_until) return '.';
  const who = kept ? 'reporters are' : `${reader} is`;
  return `; ${who} notified after ${formatTime(decision.undo_until)}.`;
}

const DECISION_ACTIONS = {
  approved: 'approve',
  rejected: 'reject',
  removed: 'remove',
  restored: 'restore',
  kept: 'keep',
  granted: 'grant',
  upheld: 'uphold',
  deferred: 'defer',
  escalated: 'escalate',
} as const;

/** Leads to what the same address sent, to decide on it together. */
function SameAddress({ note }: { note: NoteItem }) {
  const filters = { ...NO_FILTERS, same_address_as: note.id };
  return (
    <a href={viewAddress('todo', filters)} onClick={onPlainClick(() => showView('todo', filters))}>
      {note.same_address} more from this address
    </a>
  );
}

function AuthorRecord({ item }: ItemProps) {
  const { drawer } = drawerState();
  const { keys } = settingsState();
  return (
    <section class="record">
      <h3>Author</h3>
      <p>
        {item.author.kind === 'member' ? 'Member' : 'Guest'}
        {item.author.name && (
          <>
            {' '}
            <MarkedText text={item.author.name} />
          </>
        )}
        {authorRecordText(item)} <RecordStrip author={item.author} />
        {authorFilter(item) && (
          <button
            type="button"
            class="button quiet"
            aria-expanded={drawer}
            aria-keyshortcuts={keys ? 'h' : undefined}
            onClick={() => showDrawer(!drawer)}
          >
            More by this author {keys && <kbd>h</kbd>}
          </button>
        )}{' '}
        {isNote(item) && item.same_address > 0 && <SameAddress note={item} />}
      </p>
    </section>
  );
}

/** The approved and the refused notes of an author, side by side in proportion. */
function RecordStrip({ author }: Pick<Item, 'author'>) {
  if (!('approved' in author) || author.approved + author.rejected === 0) return null;
  const { approved, rejected } = author;
  return (
    <span class="strip" aria-hidden="true">
      <span class="good" style={{ flexGrow: approved }} />
      <span class="bad" style={{ flexGrow: rejected }} />
    </span>
  );
}

function authorRecordText({ author }: Item): string {
  if (author.kind === 'guest')
    return author.name ? ' (unverified name, may be several people).' : ' without a name.';
  if (!('approved' in author)) return '.';
  const { approved, rejected } = author;
  const newest = approved + rejected < MAX_COUNTED ? '' : `, of the newest ${MAX_COUNTED}`;
  return `: ${plural(approved, 'note')} approved, ${rejected} rejected or removed${newest}.`;
}
