// SPDX-License-Identifier: Apache-2.0
/** What the code that {@code skein.trace.form} emits calls. */
package skein.trace.rt;
