// Finds what can be changed in the checks and bounds of the engine, and writes all of it into the
// text at once, each change behind a switch: `mutant(17, () => a > b, () => a >= b)`. So one copy of
// the tree serves all of them.
import ts from "typescript";

/**
 * @typedef {{
 *   file: string,
 *   line: number,
 *   what: string,
 *   text: string,
 * }} Mutant `text`: the line that it is in, without indentation
 * @typedef {{ node: import("typescript").Node, what: string, changed: string }} Change
 */

/** A bound is turned by one: the equal case is let in, or left out. */
const NEIGHBOURS = new Map([
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
]);

const EQUALITIES = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

/**
 * @param {string} file path in the repository
 * @param {string} text
 * @param {number} firstId
 * @returns {{ mutants: Mutant[], text: string }} the text with every mutant of it behind its switch
 */
export function instrument(file, text, firstId) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  /** @type {Change[]} */
  const changes = [];
  collect(source, changes);
  /** @type {Mutant[]} */
  const mutants = changes.map(({ node, what }) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const lineText = text.split("\n")[line] ?? "";
    return { file, line: line + 1, what, text: lineText.trim() };
  });
  return { mutants, text: PROLOGUE + written(source, changes, firstId) };
}

const PROLOGUE = "const mutant = globalThis.callgateMutant;";

/**
 * @param {import("typescript").Node} node
 * @param {Change[]} changes
 */
function collect(node, changes) {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node))
    return;
  if (ts.isForStatement(node)) {
    // How a list is walked is no bound of the engine's.
    collect(node.statement, changes);
    return;
  }
  if (ts.isBinaryExpression(node)) addComparison(node, changes);
  if (isNumber(node)) {
    addNumber(node, changes);
    return;
  }
  if (isCheckList(node)) addChecks(node, changes);
  ts.forEachChild(node, (child) => collect(child, changes));
}

/**
 * @param {import("typescript").BinaryExpression} node
 * @param {Change[]} changes
 */
function addComparison(node, changes) {
  const other = NEIGHBOURS.get(node.operatorToken.kind);
  if (other === undefined) return;
  const operator = node.operatorToken.getText();
  const changed = `${node.left.getText()} ${other} ${node.right.getText()}`;
  changes.push({ node, what: `${operator} to ${other}`, changed });
}

/**
 * Numbers that have a name, stand in a list of a name, or are compared with. A comparison that lets
 * the equal case in or out has turned its number already.
 * @param {import("typescript").Expression} node
 * @param {Change[]} changes
 */
function addNumber(node, changes) {
  const { parent } = node;
  const text = node.getText();
  const up = { node, what: `${text} to one more`, changed: `(${text}) + 1` };
  const down = { node, what: `${text} to one less`, changed: `(${text}) - 1` };
  const named =
    (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) &&
    parent.initializer === node;
  const listed = ts.isArrayLiteralExpression(parent);
  if (named || listed) changes.push(up, down);
  else if (ts.isBinaryExpression(parent) && EQUALITIES.has(parent.operatorToken.kind)) {
    changes.push(up);
  }
}

/**
 * @param {import("typescript").Node} node
 * @returns {node is import("typescript").Expression} a number, or a product of numbers
 */
function isNumber(node) {
  if (ts.isNumericLiteral(node)) return true;
  return (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.AsteriskToken &&
    isNumber(node.left) &&
    isNumber(node.right)
  );
}

/**
 * @param {import("typescript").Node} node
 * @returns {node is import("typescript").ArrayLiteralExpression}
 */
function isCheckList(node) {
  return (
    ts.isArrayLiteralExpression(node) &&
    ts.isVariableDeclaration(node.parent) &&
    node.parent.name.getText() === "CHECKS"
  );
}

/**
 * @param {import("typescript").ArrayLiteralExpression} list
 * @param {Change[]} changes
 */
function addChecks(list, changes) {
  for (const node of list.elements) {
    changes.push({ node, what: `${node.getText()} off`, changed: "() => []" });
  }
}

/**
 * @param {import("typescript").SourceFile} source
 * @param {Change[]} changes
 * @param {number} firstId
 * @returns {string}
 */
function written(source, changes, firstId) {
  const text = source.getFullText();
  /** @type {Map<import("typescript").Node, number[]>} */
  const byNode = new Map();
  for (const [index, { node }] of changes.entries()) {
    byNode.set(node, [...(byNode.get(node) ?? []), index]);
  }
  /** @param {import("typescript").Node} node @returns {string} */
  const print = (node) => {
    let out = "";
    let at = node.getFullStart();
    ts.forEachChild(node, (child) => {
      if (child.getFullStart() < at) return;
      out += text.slice(at, child.getFullStart()) + print(child);
      at = child.getEnd();
    });
    out += text.slice(at, node.getEnd());
    const indexes = byNode.get(node);
    if (indexes === undefined) return out;
    const lead = text.slice(node.getFullStart(), node.getStart());
    const inner = out.slice(lead.length);
    const wrapped = indexes.reduce((so, index) => {
      const { changed } = /** @type {Change} */ (changes[index]);
      return `(mutant(${firstId + index}) ? (${changed}) : (${so}))`;
    }, inner);
    return lead + wrapped;
  };
  return print(source) + text.slice(source.getEnd());
}
