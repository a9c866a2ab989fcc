import type { Item, Subject } from './wire.ts';

/** The console's item id: a note's id, or `type/id` of a record, since ids repeat across types. */
export const nameOf = ({ type, id }: Subject): string => (type === 'note' ? id : `${type}/${id}`);

export const subjectOf = (name: string): Subject => {
  const [type = '', id] = name.split('/');
  return id === undefined ? { type: 'note', id: name } : { type: type as Subject['type'], id };
};

export const pathOf = (name: string): string =>
  name.includes('/') ? `subjects/${name}` : `notes/${name}`;

/** Replaces the id of a record from the service by the console's item id. */
export const named = <Given extends Item>(item: Given): Given =>
  'subject' in item ? { ...item, id: nameOf(item.subject) } : item;
