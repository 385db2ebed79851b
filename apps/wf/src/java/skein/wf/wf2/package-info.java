// SPDX-License-Identifier: Apache-2.0
/**
 * The benchmark Wide Finder 2: its rules, and a tally that does nothing else. {@link skein.wf.wf2.Line} takes lines apart, {@link
 * skein.wf.wf2.Wf2} counts them.
 */
package skein.wf.wf2;
