export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Groups of files that reach each other, each sorted; a file that imports itself is one too. Tarjan's algorithm. */
export function findCycles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  const enter = (node: string): number => {
    const index = order.size;
    order.set(node, index);
    stack.push(node);
    let low = index;
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, enter(next));
      else if (stack.includes(next)) low = Math.min(low, lowest.get(next) ?? order.get(next) ?? low);
      lowest.set(node, low);
    }
    lowest.set(node, low);
    if (low === index) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1 || graph.get(node)?.includes(node)) cycles.push(group.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) enter(node);
  return cycles;
}
