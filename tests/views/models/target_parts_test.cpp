// SPDX-License-Identifier: GPL-3.0-or-later
// Fields and string of a target: what is read out of one, and what changing a part leaves alone.
#include "views/models/target_parts.h"

#include <QTest>

using namespace tenon::views;

class TargetPartsTest : public QObject
{
    Q_OBJECT

private slots:
    void readsTheParts()
    {
        const TargetParts parts = targetPartsOf(
            QStringLiteral("llvm -keys=arm_cpu,cpu -mcpu=cortex-a76 -mtriple=aarch64-linux-gnu "
                           "-mattr=+dotprod,-sve -num-cores=4"));
        QCOMPARE(parts, (TargetParts{QStringLiteral("llvm"),
                                     QStringLiteral("aarch64-linux-gnu"),
                                     QStringLiteral("cortex-a76"),
                                     QStringLiteral("+dotprod,-sve"),
                                     {},
                                     QStringLiteral("4")}));
        QCOMPARE(targetPartsOf(QStringLiteral("raspberry-pi/4b-aarch64")).cpu, QString());
        QCOMPARE(targetPartsOf({}), TargetParts());
    }

    void changesOnePartAndLeavesTheRest()
    {
        const QString text = QStringLiteral("llvm -keys=x -mcpu=old -machine='a b' -num-cores=2");
        TargetParts parts = targetPartsOf(text);
        parts.cpu = QStringLiteral("new");
        parts.cores.clear();
        QCOMPARE(withTargetParts(text, parts),
                 QStringLiteral("llvm -keys=x -mcpu=new -machine='a b'"));
        parts.triple = QStringLiteral("armv7l-linux-gnueabihf");
        parts.abi = QStringLiteral("hard");
        QCOMPARE(withTargetParts(text, parts),
                 QStringLiteral("llvm -keys=x -mcpu=new -machine='a b' "
                                "-mtriple=armv7l-linux-gnueabihf -mfloat-abi=hard"));
    }

    void comesBackWithWhatWasWritten()
    {
        for (const char* text : {"llvm", "c -mcpu=cortex-m4 -mfloat-abi=hard",
                                 "llvm -mtriple=riscv64-linux-gnu -mabi=lp64d"}) {
            const QString target = QLatin1String(text);
            QCOMPARE(withTargetParts(target, targetPartsOf(target)), target);
        }
    }

    void beginsAnewFromATag()
    {
        TargetParts parts = targetPartsOf(QStringLiteral("raspberry-pi/4b-aarch64"));
        parts.kind = QStringLiteral("llvm");
        parts.cpu = QStringLiteral("cortex-a72");
        QCOMPARE(withTargetParts(QStringLiteral("raspberry-pi/4b-aarch64"), parts),
                 QStringLiteral("llvm -mcpu=cortex-a72"));
    }
};

QTEST_GUILESS_MAIN(TargetPartsTest)
#include "target_parts_test.moc"
