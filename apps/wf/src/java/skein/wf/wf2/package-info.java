// SPDX-License-Identifier: Apache-2.0
/**
 * The benchmark Wide Finder 2: its rules, and tallies for it alone. {@link skein.wf.wf2.Line} parses lines, {@link
 * skein.wf.wf2.Wf2} counts them.
 */
package skein.wf.wf2;
