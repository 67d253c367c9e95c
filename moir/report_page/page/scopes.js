"use strict";

// Scopes of names: a graph of thousands of operations is shown as nested groups, most of them closed.

const SECTION = 40;
const SHOWN = 80;

/** A group of operations: a scope of names, or a section of consecutive operations of a large scope. */
class Group {
  constructor(key, label) {
    this.key = key;
    this.label = label;
    this.children = [];
    this.count = 0;
  }
}

/** The operations of a block in groups by the parts of their names: `encoder/layer1/MatMul` is in encoder, in layer1. */
function scopesOf(records, block) {
  const root = new Group("", "");
  const groups = new Map([["", root]]);
  for (const record of records) {
    const parts = block.place(record).split("/").filter((part) => part);
    let group = root;
    for (let depth = 1; depth < parts.length; depth++) {
      const key = parts.slice(0, depth).join("/");
      if (!groups.has(key)) {
        const made = new Group(key, parts[depth - 1]);
        groups.set(key, made);
        group.children.push(made);
      }
      group = groups.get(key);
    }
    group.children.push(record);
  }
  return simplified(root);
}

/** Without groups of a single member, and with sections where a group has too many members. Counts the operations. */
function simplified(group) {
  group.children = group.children.map((child) => {
    if (!(child instanceof Group)) return child;
    const inner = simplified(child);
    if (inner.children.length > 1) return inner;
    const only = inner.children[0];
    if (only instanceof Group) only.label = `${inner.label}/${only.label}`;
    return only;
  });
  group.count = group.children.reduce((sum, child) => sum + (child instanceof Group ? child.count : 1), 0);
  while (group.children.length > 2 * SECTION) group.children = sections(group);
  return group;
}

function sections(group) {
  const found = [];
  for (let first = 0; first < group.children.length; first += SECTION) {
    const children = group.children.slice(first, first + SECTION);
    const section = new Group(`${group.key}#${first}-${group.children.length}`, "");
    section.children = children;
    section.count = children.reduce((sum, child) => sum + (child instanceof Group ? child.count : 1), 0);
    const before = found.reduce((sum, each) => sum + each.count, 0);
    section.label = `operations ${before + 1} to ${before + section.count}`;
    found.push(section);
  }
  return found;
}

/** The keys of the groups that are open at first: the small ones, as long as not too much is shown. */
function openAtFirst(root) {
  const open = new Set([""]);
  let shown = root.children.length;
  const order = new Map();
  const groups = (group) => group.children.filter((child) => child instanceof Group).map((child) => order.set(child, order.size) && child);
  const closed = groups(root);
  while (closed.length) {
    // Of groups of one size, the first in the model is opened first.
    closed.sort((a, b) => b.children.length - a.children.length || order.get(b) - order.get(a));
    const next = closed.pop();
    if (shown + next.children.length - 1 > SHOWN) break;
    shown += next.children.length - 1;
    open.add(next.key);
    closed.push(...groups(next));
  }
  return open;
}

/** The keys of the groups around an operation, the outermost first; null if it is not in the group. */
function groupsAround(group, id) {
  for (const child of group.children) {
    if (child instanceof Group) {
      const inner = groupsAround(child, id);
      if (inner) return [child.key, ...inner];
    } else if (child.id === id) {
      return [];
    }
  }
  return null;
}
