/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that a session is refused; a processor lacks some of them. */
#ifndef TENON_RUNTIME_RPC_FILTER_CALLS_H
#define TENON_RUNTIME_RPC_FILTER_CALLS_H

#include <sys/syscall.h>

/* Numbers that all processors share, for headers that are older than the kernel. */
enum
{
    TENON_SYS_clone3 = 435,
    TENON_SYS_pidfd_send_signal = 424,
    TENON_SYS_io_uring_setup = 425,
    TENON_SYS_io_uring_enter = 426,
    TENON_SYS_io_uring_register = 427,
    TENON_SYS_open_tree = 428,
    TENON_SYS_move_mount = 429,
    TENON_SYS_fsopen = 430,
    TENON_SYS_fsconfig = 431,
    TENON_SYS_fsmount = 432,
    TENON_SYS_fspick = 433,
    TENON_SYS_pidfd_open = 434,
    TENON_SYS_pidfd_getfd = 438,
    TENON_SYS_process_madvise = 440,
    TENON_SYS_mount_setattr = 442,
    TENON_SYS_quotactl_fd = 443,
    TENON_SYS_process_mrelease = 448,
    TENON_SYS_memfd_secret = 447,
    TENON_SYS_fchmodat2 = 452,
    TENON_SYS_utimensat_time64 = 412 /* of 32-bit processors; none elsewhere */
};

/* clang-format off */
static const long kRefusedCalls[] = {
    SYS_accept, SYS_accept4, SYS_acct, SYS_add_key, SYS_adjtimex, SYS_bind, SYS_bpf, SYS_capset,
    SYS_chroot, SYS_clock_adjtime, SYS_clock_settime, SYS_connect, SYS_delete_module, SYS_execve,
    SYS_execveat, SYS_fanotify_init, SYS_fanotify_mark, SYS_fchmod, SYS_fchmodat, SYS_fchown,
    SYS_fchownat, SYS_finit_module, SYS_fremovexattr, SYS_fsetxattr, SYS_init_module,
    SYS_inotify_add_watch, SYS_ioprio_set, SYS_kcmp, SYS_kexec_file_load, SYS_kexec_load,
    SYS_keyctl, SYS_listen, SYS_lookup_dcookie, SYS_lremovexattr, SYS_lsetxattr, SYS_memfd_create,
    SYS_migrate_pages, SYS_mknodat, SYS_mount, SYS_move_pages, SYS_mq_open, SYS_mq_unlink,
    SYS_msgctl, SYS_msgget, SYS_msgrcv, SYS_msgsnd, SYS_name_to_handle_at, SYS_nfsservctl,
    SYS_open_by_handle_at, SYS_perf_event_open, SYS_personality, SYS_pivot_root,
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_quotactl, SYS_reboot,
    SYS_removexattr, SYS_request_key, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_sched_setattr,
    SYS_sched_setparam, SYS_sched_setscheduler, SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop,
    SYS_sendmmsg, SYS_sendmsg, SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_setpriority,
    SYS_settimeofday, SYS_setxattr, SYS_shmat, SYS_shmctl, SYS_shmget, SYS_socket, SYS_socketpair,
    SYS_swapoff, SYS_swapon, SYS_syslog, SYS_tkill, SYS_umount2, SYS_unshare, SYS_userfaultfd,
    SYS_utimensat, SYS_vhangup, TENON_SYS_pidfd_send_signal, TENON_SYS_io_uring_setup,
    TENON_SYS_io_uring_enter, TENON_SYS_io_uring_register, TENON_SYS_open_tree,
    TENON_SYS_move_mount, TENON_SYS_fsopen, TENON_SYS_fsconfig, TENON_SYS_fsmount, TENON_SYS_fspick,
    TENON_SYS_pidfd_open, TENON_SYS_pidfd_getfd, TENON_SYS_process_madvise, TENON_SYS_mount_setattr,
    TENON_SYS_quotactl_fd, TENON_SYS_process_mrelease, TENON_SYS_memfd_secret, TENON_SYS_fchmodat2,
    TENON_SYS_utimensat_time64,
#ifdef SYS_chmod
    SYS_chmod,
#endif
#ifdef SYS_chown
    SYS_chown,
#endif
#ifdef SYS_chown32
    SYS_chown32,
#endif
#ifdef SYS_create_module
    SYS_create_module,
#endif
#ifdef SYS_fchown32
    SYS_fchown32,
#endif
#ifdef SYS_fork
    SYS_fork,
#endif
#ifdef SYS_futimesat
    SYS_futimesat,
#endif
#ifdef SYS_get_kernel_syms
    SYS_get_kernel_syms,
#endif
#ifdef SYS_ioperm
    SYS_ioperm,
#endif
#ifdef SYS_iopl
    SYS_iopl,
#endif
#ifdef SYS_lchown
    SYS_lchown,
#endif
#ifdef SYS_lchown32
    SYS_lchown32,
#endif
#ifdef SYS_mknod
    SYS_mknod,
#endif
#ifdef SYS_modify_ldt
    SYS_modify_ldt,
#endif
#ifdef SYS_query_module
    SYS_query_module,
#endif
#ifdef SYS_socketcall
    SYS_socketcall,
#endif
#ifdef SYS_umount
    SYS_umount,
#endif
#ifdef SYS_uselib
    SYS_uselib,
#endif
#ifdef SYS_utime
    SYS_utime,
#endif
#ifdef SYS_utimes
    SYS_utimes,
#endif
#ifdef SYS_vfork
    SYS_vfork,
#endif
};
/* clang-format on */

#endif
